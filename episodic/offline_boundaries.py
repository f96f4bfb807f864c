"""Chooses where a window of lines is cut: the best partition under evidence, time and size.

Every way to cut the window has a price; the cheapest wins, found exactly by dynamic
programming. A cut earns its log-odds (topic, surprise, words, pause), a segment pays
for being too short, and one above `MOST_LINES` cannot be paid for at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np

from episodic.engines import Line, Vectors
from episodic.offline_evidence import Floats, boundary_log_odds

FEWEST_TO_SPLIT = 3
MOST_LINES = 40
SILENCE = timedelta(hours=3)

BOUNDARY_LOG_ODDS = -1.3
"""A cut pays above these log-odds: maximises Score on the development sets."""
PRICE_OF_ONE_LINE = 1.5
PRICE_OF_TWO_LINES = 0.3
"""One- and two-message episodes are the worst failure that peers report."""
USEFUL_LINES = 10
PRICE_PER_MISSING_LINE = 0.2
"""In a long conversation a cut must be worth a small episode.

Conversations of months made of sittings of 20 lines (LoCoMo) get a median episode of 11
to 13 lines by it, nearly none below 3. Trade-off: it costs .07 to .11 of Score on short
dialogues whose topics last four lines, so it counts only where the timestamps show
people's pace or earlier episodes exist; a lone batch without times has its topics only.
"""
FEWEST_AT_THE_END = 3
"""What follows the last lines is not known yet: fewer do not make a segment."""
EXTREME = 0.85
"""The flashbulb level: from here the surprise channel speaks."""
SURPRISE_LOG_ODDS = 2.0
"""What the surprise channel adds to a cut before an extremely surprising line."""

_SLOWEST_MACHINE = timedelta(seconds=2)
"""Messages that follow each other faster than this were imported, not spoken."""
_PAUSE = timedelta(minutes=10)
_MOST_FROM_PAUSE = 3.0


def choose_boundaries(
    *, lines: Sequence[Line], vectors: Vectors, surprise: Sequence[float], ongoing: bool
) -> list[int]:
    """Return the index of each segment's last line, the window's last line included.

    `surprise` has one number in 0.0..1.0 a line; `ongoing` says that the conversation
    has episodes before this window. A silence of three hours always cuts,
    unless there are fewer than three lines in all.
    """
    count = len(lines)
    if count < FEWEST_TO_SPLIT:
        return [count - 1]
    gaps = silences(lines)
    long = ongoing or has_clock(gaps)
    gain = boundary_log_odds(lines, vectors) - BOUNDARY_LOG_ODDS
    gain += pause_log_odds(gaps)
    gain += [SURPRISE_LOG_ODDS if after >= EXTREME else 0.0 for after in surprise[1:]]
    ends: list[int] = []
    start = 0
    for end in [*(g for g, gap in enumerate(gaps) if gap >= SILENCE), count - 1]:
        ends += [start + cut for cut in _cheapest_cuts(gain[start:end], long=long)]
        ends.append(end)
        start = end + 1
    return ends


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


def has_clock(gaps: Sequence[timedelta]) -> bool:
    """Do the timestamps tell the pace of people, or only the pace of an import?"""
    return max(gaps) >= SILENCE or sorted(gaps)[len(gaps) // 2] >= _SLOWEST_MACHINE


def pause_log_odds(gaps: Sequence[timedelta]) -> Floats:
    """Return what each pause says for a boundary: 0 up to the usual pause, then +1 a doubling."""
    usual = max(_PAUSE, 2 * sorted(gaps)[len(gaps) // 2])
    doublings = [np.log2(max(gap / usual, 1.0)) for gap in gaps]
    return np.minimum(np.array(doublings, dtype=np.float64), _MOST_FROM_PAUSE)


def price_of_size(size: int, *, long: bool) -> float:
    """Return the price of one segment of `size` lines, in log-odds."""
    if size > MOST_LINES:
        return float("inf")
    price = {1: PRICE_OF_ONE_LINE, 2: PRICE_OF_TWO_LINES}.get(size, 0.0)
    if long:
        price += PRICE_PER_MISSING_LINE * max(0, USEFUL_LINES - size)
    return price


def _cheapest_cuts(gain: Floats, *, long: bool) -> list[int]:
    """Return the gaps to cut in one unbroken stretch of len(gain) + 1 lines.

    Of two equally good partitions the one with fewer, later cuts is taken.
    """
    count = len(gain) + 1
    best = [0.0] + [-np.inf] * count
    came_from = [0] * (count + 1)
    for end in range(1, count + 1):
        for start in range(max(0, end - MOST_LINES), end):
            if end == count and start and end - start < FEWEST_AT_THE_END:
                continue
            worth = best[start] - price_of_size(end - start, long=long)
            if start:
                worth += float(gain[start - 1])
            if worth > best[end]:
                best[end], came_from[end] = worth, start
    cuts = []
    start = came_from[count]
    while start:
        cuts.append(start - 1)
        start = came_from[start]
    return cuts[::-1]
