"""Token budgets, and what fits into them.

Sizes are in quarters of a token, which add up exactly over the parts of a block, so that nothing is
rendered twice.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from memoryproject.text.tokens import count_quarters, in_use

Item = TypeVar("Item")
REMEMBERED_LINES, REMEMBERED_CHARACTERS = 8_192, 1_000
"""Number of short texts whose sizes are cached, and their length."""


@dataclass(slots=True)
class Budget:
    """A limit on what may be spent, in tokens or quarters of one; None: no limit."""

    limit: int | None
    spent: int = 0

    def take(self, size: int, *, at_most: int | None = None) -> bool:
        """Spend `size`; return False, and spend nothing, if that goes above the limit.

        `at_most`: a lower limit for this one time.
        """
        limit = self.limit if at_most is None else at_most
        if limit is not None and self.spent + size > limit:
            return False
        self.spent += size
        return True


def fit(items: Iterable[Item], budget: Budget, *, size: Callable[[Item], int]) -> list[Item]:
    """Return the items that fit into a budget, in order; those that do not are skipped."""
    return [item for item in items if budget.take(size(item))]


def count_part(text: str) -> int:
    """Return the quarters of a line, or of a part of one; cached, as answers repeat many."""
    is_short = len(text) <= REMEMBERED_CHARACTERS
    return _remember_quarters(text, in_use().name) if is_short else count_quarters(text)


@lru_cache(REMEMBERED_LINES)
def _remember_quarters(text: str, counter: str) -> int:
    return count_quarters(text)
