"""Reads the partition that a model answered by the last message of each episode. Pure."""

import itertools
from collections.abc import Sequence

from episodic.window import FEWEST_TO_SPLIT

Run = tuple[int, int]
"""First and last index, both included."""


def read_partition(ends: Sequence[int], *, count: int) -> list[Run] | None:
    """Return the runs with these ends that cover 0..count-1, or None if the ends are invalid.

    Ends counted from 1 are shifted, and the last run is extended to the end: a model that miscounts
    mostly has the order right. A partition that stops before the middle is probably a cut answer.
    Fewer than `FEWEST_TO_SPLIT` messages are one run.
    """
    if not ends or not count:
        return None
    if count < FEWEST_TO_SPLIT:
        return [(0, count - 1)]
    if ends[-1] == count:
        ends = [end - 1 for end in ends]
    if ends[0] < 0 or (ends[-1] + 1) * 2 < count:
        return None
    ends = [*ends[:-1], count - 1]
    if any(later <= earlier for earlier, later in itertools.pairwise(ends)):
        return None
    starts = [0, *(end + 1 for end in ends[:-1])]
    return list(zip(starts, ends, strict=True))
