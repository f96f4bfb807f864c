"""Rules of the window: when it is due, how much of it is closed, which silence cuts.

Pure rules, no clock.
"""

from collections.abc import Sequence
from datetime import timedelta

from episodic.engines import Line

SMALLEST = 5
"""A window below this waits, unless the conversation fell silent."""
SIZE = 20
DOUBLED_SIZE = 40
OLDEST_WAITS_AT_MOST = timedelta(hours=2)
SILENCE_CLOSES_ANY = timedelta(hours=24)
FEWEST_TO_SPLIT = 3
"""Number of messages below which a window is one episode, whatever the pauses."""
SILENCE_CUTS = timedelta(hours=3)
"""Silence across which no episode continues."""


def size_limit(*, doubled: bool) -> int:
    """Return how many messages make a window due, and how many one run looks at."""
    return DOUBLED_SIZE if doubled else SIZE


def count_closed(segments: int, *, doubled: bool, everything: bool) -> int:
    """Return how many of a window's segments become episodes; 0: the window is to grow.

    The last of several stays in the window, as the start of what comes next. A single
    one makes the window grow the first time and is closed the second time. With
    `everything` nothing stays.
    """
    if everything or (segments == 1 and doubled):
        return segments
    return segments - 1


def silences(lines: Sequence[Line]) -> list[timedelta]:
    """Return the pause before each line but the first; never negative.

    Messages may arrive out of order, so each is compared with the latest time so far.
    """
    latest = lines[0].at
    out = []
    for line in lines[1:]:
        out.append(max(line.at - latest, timedelta(0)))
        latest = max(latest, line.at)
    return out
