"""Checking and mending the partition that a model answered. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

Run = tuple[int, int]
"""First and last index, both included."""


def is_partition(runs: Sequence[Run], *, count: int) -> bool:
    """Return whether `runs` cover 0..count-1 once, in order."""
    expected = 0
    for first, last in runs:
        if first != expected or last < first:
            return False
        expected = last + 1
    return expected == count


def mend_partition(runs: Sequence[Run], *, count: int) -> list[Run] | None:
    """Return a partition with the same starts, or None if they are not in rising order.

    One that only counts from 1 is shifted. Else: a model that miscounts mostly has the
    starts right, so each run reaches to where the next begins, the first from 0 and the
    last to the end. A run that would end far short of `count` is a sign of a cut answer:
    more than half missing is not mended.
    """
    shifted = [(first - 1, last - 1) for first, last in runs]
    if is_partition(shifted, count=count):
        return shifted
    starts = [first for first, _ in runs]
    rising = all(earlier < later for earlier, later in itertools.pairwise(starts))
    inside = all(0 <= start < count for start in starts)
    if not starts or not rising or not inside or (runs[-1][1] + 1) * 2 < count:
        return None
    starts[0] = 0
    ends = [start - 1 for start in starts[1:]] + [count - 1]
    return list(zip(starts, ends, strict=True))
