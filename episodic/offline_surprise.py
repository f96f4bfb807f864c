"""How unexpected each line is, from 0.0 (fully expected) to 1.0 (breaks the model).

The raw measure is how much further a line lies from the event model (a decayed mean of
the lines before it) than lines of this window usually do. Words of surprise and the
first mention of an event that changes a life add to it. A monotone map then gives the
number its meaning: 0.2 is low, 0.6 high, 0.9 extremely high.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from episodic import discourse_cues as cues
from episodic.engines import Line, Vectors
from episodic.offline_evidence import Floats, divergence

USUAL_DIVERGENCE = 0.088
"""Median over the lines of LoCoMo, TIAGE and DialSeg711 (.077, .095, .099), e5 vectors."""
_USUAL_COUNTS_AS = 10
"""The median of a window is trusted as if the usual one had been seen on ten lines."""
WORDS_OF_SHOCK = 0.07
WORDS_OF_NEWS = 0.035
LIFE_EVENT = 0.085
_FULL_CONTENT = 4
"""A line with fewer content words diverges because it is short, not because it is new."""
_LINES_REMEMBERED = 12

RAW_LEVELS = (-0.03, 0.0, 0.03, 0.045, 0.062, 0.075, 0.098, 0.13)
SURPRISE_LEVELS = (0.0, 0.12, 0.25, 0.4, 0.6, 0.7, 0.85, 1.0)
"""Fitted to the segments of LoCoMo, TIAGE and DialSeg711, whose raw surprise has the
quantiles .03 (50 %), .06 (87 %), .075 (94 %), .10 (97.5 %) and .116 (99 %): a typical
segment gets .25, one in eight is high, one in forty extremely high.
"""


def line_surprises(lines: Sequence[Line], vectors: Vectors) -> list[float]:
    """Return one number in 0.0..1.0 a line; nothing is known before the first."""
    if not lines:
        return []
    raw = raw_surprises(lines, vectors)
    return [float(level) for level in np.interp(raw, RAW_LEVELS, SURPRISE_LEVELS)]


def raw_surprises(lines: Sequence[Line], vectors: Vectors) -> Floats:
    """Return the uncalibrated measure: excess divergence plus what the words add."""
    excess = np.zeros(len(lines))
    if len(lines) > 1:
        away = divergence(vectors)
        seen = np.median(away) * len(away) + USUAL_DIVERGENCE * _USUAL_COUNTS_AS
        excess[1:] = away - seen / (len(away) + _USUAL_COUNTS_AS)
    words = [cues.content_words(line.content) for line in lines]
    for index, line in enumerate(lines):
        if len(words[index]) < _FULL_CONTENT:
            excess[index] *= len(words[index]) / _FULL_CONTENT
        excess[index] += WORDS_OF_SHOCK * cues.sounds_shocked(line.content)
        excess[index] += WORDS_OF_NEWS * cues.announces_news(line.content)
        if cues.tells_life_event(line.content) and not _was_told(lines, index):
            excess[index] += LIFE_EVENT
    return excess


def _was_told(lines: Sequence[Line], index: int) -> bool:
    """Has a life event been told in the lines just before?"""
    before = lines[max(0, index - _LINES_REMEMBERED) : index]
    return any(cues.tells_life_event(line.content) for line in before)
