"""The segmenter that needs no model: deterministic, a few milliseconds a window."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np

from episodic.engines import Line, Segment, Segmentation, Vectors
from episodic.offline.evidence import Floats, topic_log_odds
from episodic.offline.lexicon import Lexicon, find_lexicon
from episodic.offline.summaries import compose_summary
from episodic.offline.surprise import measure_surprise
from episodic.offline.titles import compose_title
from episodic.window import FEWEST_TO_SPLIT, SILENCE_CUTS, silences

ENGINE = "offline"
MOST_CHARACTERS_READ = 2000

FEWEST_LINES = 2
SHARE_OF_THE_BEST = 0.4
PRICE_OF_SMALL_PARTS = 1.0
"""A cut into parts of n lines needs a chance of (0.4 + 1 / n) times the best expected F1.

Episodes of one or two messages are the worst failure that peers report. With a flat half one in
eight of LoCoMo's had two, now one in thirty, and DialogSum has 1.5 cuts for a true one, not 1.9.
"""
WORTH_OF_NO_CUT = 2.0
"""Factor on the chance that no topic ends: a wrong cut is worse than a missing one."""
FLASHBULB = 0.85
SURPRISE_LOG_ODDS = 2.0
"""Log odds added to a cut before an extremely surprising line."""
UNBROKEN_LOG_ODDS = -1.0
"""Log odds against a cut between messages that follow each other without a pause."""
_SLOWEST_MACHINE = timedelta(seconds=2)
"""Messages that follow each other faster than this were imported: their times say nothing."""
_PAUSE = timedelta(minutes=10)
_MOST_FROM_PAUSE = 3.0


class OfflineSegmenter:
    """Implements `Segmenter` with the vectors and words of the window alone."""

    def segment(
        self, *, lines: Sequence[Line], vectors: Vectors, previous_summary: str
    ) -> Segmentation:
        """Return a partition of `lines`; no lines give no segments."""
        if not lines:
            return Segmentation(segments=(), engine=ENGINE)
        # A pasted book would take seconds.
        lines = [replace(line, content=line.content[:MOST_CHARACTERS_READ]) for line in lines]
        lexicon = find_lexicon(lines)
        surprise = measure_surprise(lines, vectors, lexicon)
        ends = find_ends(lines, vectors, surprise, lexicon)
        starts = [0, *(end + 1 for end in ends[:-1])]
        return Segmentation(
            segments=tuple(
                describe_segment(lines, vectors, surprise, lexicon, first, last)
                for first, last in zip(starts, ends, strict=True)
            ),
            engine=ENGINE,
        )


def describe_segment(
    lines: Sequence[Line],
    vectors: Vectors,
    surprise: Sequence[float],
    lexicon: Lexicon,
    first: int,
    last: int,
) -> Segment:
    """Return title, summary and surprise of the lines `first` to `last`, both included."""
    run = slice(first, last + 1)
    return Segment(
        first=first,
        last=last,
        title=compose_title(lines[run], vectors[run], lexicon),
        summary=compose_summary(lines[run], vectors[run], lexicon),
        surprise=max(surprise[run]),
    )


def find_ends(
    lines: Sequence[Line], vectors: Vectors, surprise: Sequence[float], lexicon: Lexicon
) -> list[int]:
    """Return the index of each segment's last line, the last line of all included.

    A long silence always cuts, unless there are fewer than three lines in all.
    """
    count = len(lines)
    if count < FEWEST_TO_SPLIT:
        return [count - 1]
    gaps = silences(lines)
    log_odds = topic_log_odds(lines, vectors, lexicon) + pause_log_odds(gaps)
    log_odds += SURPRISE_LOG_ODDS * (np.array(surprise[1:]) >= FLASHBULB)
    ends: list[int] = []
    start = 0
    for end in [*(g for g, gap in enumerate(gaps) if gap >= SILENCE_CUTS), count - 1]:
        chances = 1 / (1 + np.exp(-log_odds[start:end]))
        ends += [*(start + cut for cut in choose_cuts(chances)), end]
        start = end + 1
    return ends


def pause_log_odds(gaps: Sequence[timedelta]) -> Floats:
    """Return what each pause says for a boundary: +1 for each doubling of the usual pause."""
    middle = sorted(gaps)[len(gaps) // 2]
    unbroken = UNBROKEN_LOG_ODDS if middle >= _SLOWEST_MACHINE else 0.0
    doublings = [np.log2(max(gap / max(_PAUSE, 2 * middle), 1.0)) for gap in gaps]
    return np.minimum(np.array(doublings, dtype=np.float64), _MOST_FROM_PAUSE) + unbroken


def choose_cuts(chances: Floats) -> list[int]:
    """Return the gaps to cut, from the chance that each is a boundary.

    The best set by expected F1 takes every gap with a chance above half of that F1 (Lipton
    et al. 2014), so that clear changes of subject hide the doubtful ones in a window, and a
    window of none but doubtful ones is cut at the best of them. We ask more of small parts.
    """
    if not len(chances):
        return []
    order = np.argsort(-chances, kind="stable")
    hits = np.cumsum(chances[order])
    best = float((2 * hits / (np.arange(1, len(chances) + 1) + hits[-1])).max())
    if WORTH_OF_NO_CUT * np.prod(1 - chances) > best:
        return []
    edges = [-1, len(chances)]
    for gap in map(int, order):
        size = min(abs(gap - edge) for edge in edges)
        needed = best * (SHARE_OF_THE_BEST + PRICE_OF_SMALL_PARTS / max(size, 1))
        if size >= FEWEST_LINES and chances[gap] > needed:
            edges.append(gap)
    return sorted(edges[2:])
