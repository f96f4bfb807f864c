"""Long lists of ids, a bounded part at a time: a statement holds only so many parameters."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from django.db.models import QuerySet

Item = TypeVar("Item")

AT_ONCE = 2_000


def in_batches(items: Sequence[Item], *, size: int = AT_ONCE) -> Iterator[Sequence[Item]]:
    """Yield parts of `items` in their order."""
    return (items[start : start + size] for start in range(0, len(items), size))


def lock_rows(rows: QuerySet[Any], ids: Sequence[Any]) -> list[Any]:
    """Lock those of the rows that have these ids, in order of id; return their ids."""
    locked: list[Any] = []
    for some in in_batches(ids):
        fitting = rows.filter(id__in=some).select_for_update()
        locked += fitting.order_by("id").values_list("id", flat=True)
    return locked


def delete_some(rows: QuerySet[Any], *, at_most: int = AT_ONCE) -> int:
    """Delete the first of the rows, in their order; count them."""
    ids = list(rows.values_list("id", flat=True)[:at_most])
    return rows.filter(id__in=ids).delete()[0]


def delete_rows(rows: QuerySet[Any], lookup: str, ids: Sequence[Any]) -> int:
    """Delete the rows that a lookup, as in "episode__in", finds for any of the ids; count them."""
    return sum(rows.filter(**{lookup: some}).delete()[0] for some in in_batches(ids))
