"""Long lists of ids, a bounded part at a time: a statement holds only so many parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")

AT_ONCE = 2_000


def in_batches(items: Sequence[Item], *, size: int = AT_ONCE) -> Iterator[Sequence[Item]]:
    """Yield parts of `items` in their order."""
    return (items[start : start + size] for start in range(0, len(items), size))
