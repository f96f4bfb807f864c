"""Splits long lists of ids: a statement takes only so many parameters."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from django.db.models import QuerySet

Item = TypeVar("Item")

AT_ONCE = 2_000


def in_batches(items: Sequence[Item], *, size: int = AT_ONCE) -> Iterator[Sequence[Item]]:
    """Yield parts of `items` in their order."""
    return (items[start : start + size] for start in range(0, len(items), size))


def lock_rows(rows: QuerySet[Any], ids: Sequence[Any]) -> list[Any]:
    """Lock the rows with these ids, in order of id; return their ids."""
    locked: list[Any] = []
    for some in in_batches(ids):
        fitting = rows.filter(id__in=some).select_for_update()
        locked += fitting.order_by("id").values_list("id", flat=True)
    return locked


def delete_some(rows: QuerySet[Any], *, at_most: int = AT_ONCE) -> int:
    """Delete the first of the rows, in their order; return how many."""
    ids = list(rows.values_list("id", flat=True)[:at_most])
    return rows.filter(id__in=ids).delete()[0]


def delete_rows(rows: QuerySet[Any], lookup: str, ids: Sequence[Any]) -> int:
    """Delete the rows that a lookup, such as "episode__in", finds for any id; return how many."""
    return sum(rows.filter(**{lookup: some}).delete()[0] for some in in_batches(ids))
