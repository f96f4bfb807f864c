"""Constraints and indexes of tables, in a line each: the name, then the fields; codes of enums."""

from enum import StrEnum

from django.db.models import CheckConstraint, Index, Q, UniqueConstraint


def values_of(codes: type[StrEnum]) -> list[str]:
    """Return what a column of these codes may hold."""
    return [code.value for code in codes]


def choices_of(codes: type[StrEnum]) -> list[tuple[str, str]]:
    """Return the choices of a column of these codes."""
    return [(value, value) for value in values_of(codes)]


def check(name: str, condition: Q) -> CheckConstraint:
    return CheckConstraint(condition=condition, name=name)


def unique(name: str, fields: str, condition: Q | None = None) -> UniqueConstraint:
    """Return that no two rows, of those that fit the condition, are alike in all fields."""
    return UniqueConstraint(fields=fields.split(), condition=condition, name=name)


def unique_null(name: str, fields: str) -> UniqueConstraint:
    """Return that no two rows are alike in all fields, NULL being like NULL."""
    return UniqueConstraint(fields=fields.split(), nulls_distinct=False, name=name)


def index(name: str, fields: str, condition: Q | None = None) -> Index:
    return Index(fields=fields.split(), condition=condition, name=name)
