"""Short forms of table constraints and indexes: the name, then the fields; choices of enums."""

from enum import StrEnum

from django.db.models import CheckConstraint, Index, Q, UniqueConstraint


def values_of(codes: type[StrEnum]) -> list[str]:
    """Return the values of these codes, all that their column may hold."""
    return [code.value for code in codes]


def choices_of(codes: type[StrEnum]) -> list[tuple[str, str]]:
    """Return the choices of a column of these codes."""
    return [(value, value) for value in values_of(codes)]


def check(name: str, condition: Q) -> CheckConstraint:
    return CheckConstraint(condition=condition, name=name)


def unique(name: str, fields: str, condition: Q | None = None) -> UniqueConstraint:
    """Return the constraint that no two rows with the condition agree in all fields."""
    return UniqueConstraint(fields=fields.split(), condition=condition, name=name)


def unique_null(name: str, fields: str) -> UniqueConstraint:
    """Return the constraint that no two rows agree in all fields, NULL being equal to NULL."""
    return UniqueConstraint(fields=fields.split(), nulls_distinct=False, name=name)


def index(name: str, fields: str, condition: Q | None = None) -> Index:
    return Index(fields=fields.split(), condition=condition, name=name)
