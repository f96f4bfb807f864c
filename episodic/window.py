"""When a window is due, and how much of it is closed. Pure rules, no clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

SMALLEST = 5
"""A window below this waits, unless the conversation fell silent."""
SIZE = 20
DOUBLED_SIZE = 40
OLDEST_WAITS_AT_MOST = timedelta(hours=2)
SILENCE_CLOSES_ANY = timedelta(hours=24)


def size_limit(*, doubled: bool) -> int:
    """Return how many messages make a window due, and how many one run looks at."""
    return DOUBLED_SIZE if doubled else SIZE


def is_due(*, pending: int, doubled: bool, oldest_waited: timedelta, silent_for: timedelta) -> bool:
    """Return whether a window must be segmented now.

    `oldest_waited` and `silent_for` are how long ago its oldest and its newest
    message were received, by the database's clock.
    """
    if pending == 0:
        return False
    if pending >= size_limit(doubled=doubled) or silent_for >= SILENCE_CLOSES_ANY:
        return True
    return pending >= SMALLEST and oldest_waited >= OLDEST_WAITS_AT_MOST


@dataclass(frozen=True, slots=True)
class Closing:
    """How many of the segments found become episodes, and whether the window grows."""

    segments: int
    doubled: bool


def decide_closing(*, found: int, doubled: bool, everything: bool) -> Closing:
    """Return what to do with `found` segments.

    Of several the last stays in the window, as the start of what comes next. A single
    one makes the window grow the first time and is closed the second time. With
    `everything` nothing stays.
    """
    if everything:
        return Closing(segments=found, doubled=False)
    if found > 1:
        return Closing(segments=found - 1, doubled=False)
    return Closing(segments=1, doubled=False) if doubled else Closing(segments=0, doubled=True)
