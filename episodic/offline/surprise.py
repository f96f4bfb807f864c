"""How unexpected each line is, from 0.0 (fully expected) to 1.0 (breaks the model).

The raw measure is how much further a line lies from the faded lines before it than lines
of this window usually do. Words of astonishment and the first mention of an event that
changes a life add to it. A monotone map then gives the number its meaning: 0.2 is low,
0.6 high, 0.9 extremely high.
"""

from collections.abc import Sequence

import numpy as np

from episodic.engines import Line, Vectors
from episodic.offline.evidence import Floats, divergence
from episodic.offline.lexicon import Lexicon, asks

USUAL_DIVERGENCE = 0.088
"""Median over the lines of LoCoMo, TIAGE and DialSeg711 (.077, .095, .099), e5 vectors."""
_USUAL_COUNTS_AS = 10
"""The median of a window is trusted as if the usual one had been seen on ten lines."""
ASTONISHMENT = 0.07
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


def measure_surprise(lines: Sequence[Line], vectors: Vectors, lexicon: Lexicon) -> list[float]:
    """Return a surprise of 0.0..1.0 per line; nothing is known before the first."""
    excess: Floats = np.zeros(len(lines))
    if len(lines) > 1:
        away = divergence(vectors)
        seen = np.median(away) * len(away) + USUAL_DIVERGENCE * _USUAL_COUNTS_AS
        excess[1:] = away - seen / (len(away) + _USUAL_COUNTS_AS)
    last_event = -_LINES_REMEMBERED
    for index, content in enumerate(line.content for line in lines):
        excess[index] *= min(len(lexicon.content_words(content)) / _FULL_CONTENT, 1.0)
        excess[index] += ASTONISHMENT * lexicon.has("astonishment", content)
        own = lexicon.has("first_person", content) and not asks(content)
        if own and lexicon.has("life_event", content):
            excess[index] += LIFE_EVENT * (index - last_event >= _LINES_REMEMBERED)
            last_event = index
    return [float(level) for level in np.interp(excess, RAW_LEVELS, SURPRISE_LEVELS)]
