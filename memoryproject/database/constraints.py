"""Constraints and indexes of tables, in a line each: the name, then the fields."""

from django.db.models import CheckConstraint, Index, Q, UniqueConstraint


def check(name: str, condition: Q) -> CheckConstraint:
    return CheckConstraint(condition=condition, name=name)


def unique(name: str, fields: str, condition: Q | None = None) -> UniqueConstraint:
    """Return that no two rows, of those that fit the condition, are alike in all fields."""
    return UniqueConstraint(fields=fields.split(), condition=condition, name=name)


def index(name: str, fields: str, condition: Q | None = None) -> Index:
    return Index(fields=fields.split(), condition=condition, name=name)
