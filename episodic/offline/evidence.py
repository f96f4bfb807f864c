"""Evidence for a new topic at each gap between two lines, and its weights.

Gap g lies between line g and line g + 1. All of it comes from the window alone, so the
same window always gives the same numbers.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from episodic.engines import Line, Vectors
from episodic.offline.lexicon import Lexicon, asks
from memoryproject.process.tables import read_table

Floats = npt.NDArray[np.float64]

DECAY = 0.7
"""Share of the earlier lines' weight that remains after one more line; a plain mean drifts."""
FAST_DECAY = 0.5

WEIGHTS: dict[str, float] = read_table(__file__, "weights")
"""Log-odds per unit of evidence, by `bench.quality weights` of commit 5b3d290e from the training
parts of TIAGE, DialSeg711, DialogSum, TopiOCQA and SuperDialseg. Vectors of another embedder than
multilingual-e5-small need the fit again.
"""


def unit(vectors: Floats) -> Floats:
    """Scale the last axis to length 1; zero stays zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, 1e-9), dtype=np.float64)


def sum_decayed(vectors: Floats, decay: float) -> Floats:
    """Return for each line its sum with the lines before it, older ones weighted less."""
    sums = np.array(vectors, dtype=np.float64)
    for index in range(1, len(sums)):
        sums[index] += decay * sums[index - 1]
    return sums


def likeness(vectors: Floats, decay: float) -> Floats:
    """Cosine of the lines before each gap with those after it; near lines count most."""
    before = unit(sum_decayed(vectors, decay))[:-1]
    after = unit(sum_decayed(vectors[::-1], decay))[::-1][1:]
    return np.asarray((before * after).sum(axis=1), dtype=np.float64)


def excess_likeness(vectors: Vectors, decay: float) -> Floats:
    """Return the likeness above chance, after subtracting what all lines have in common.

    Without that subtraction any two lines are alike; after it any two halves are opposites. So
    unrelated lines, as many as there are, show what chance gives.
    """
    lines = np.eye(len(vectors))
    centred = unit(vectors - vectors.mean(axis=0, dtype=np.float64))
    return likeness(centred, decay) - likeness(unit(lines - lines.mean(axis=0)), decay)


def divergence(vectors: Vectors) -> Floats:
    """1 − cosine of the line after each gap with the faded lines before it."""
    before = unit(sum_decayed(vectors.astype(np.float64), DECAY))[:-1]
    return np.asarray(1.0 - (before * vectors[1:]).sum(axis=1), dtype=np.float64)


def depth(similarity: Floats) -> Floats:
    """How far each gap lies below the nearest peaks on both sides (TextTiling, Hearst 1997)."""
    return _climb(similarity) + _climb(similarity[::-1])[::-1]


def _climb(similarity: Floats) -> Floats:
    """Return how far each point lies below the peak of the slope that rises to its left."""
    tops = np.array(similarity)
    for index in range(1, len(tops)):
        if similarity[index - 1] >= similarity[index]:
            tops[index] = tops[index - 1]
    return np.asarray(tops - similarity, dtype=np.float64)


def count_shared(words: Sequence[frozenset[str]], before: int) -> Floats:
    """Return for each gap log(1 + how many words of the next line are in those before)."""
    counts = [
        len(words[gap + 1] & frozenset().union(*words[max(0, gap + 1 - before) : gap + 1]))
        for gap in range(len(words) - 1)
    ]
    return np.log1p(np.array(counts, dtype=np.float64))


def measure_gaps(lines: Sequence[Line], vectors: Vectors, lexicon: Lexicon) -> Floats:
    """Return a row per gap with a column for each of `WEIGHTS`; at least two lines."""
    contents = [line.content for line in lines]
    words = [lexicon.content_words(content) for content in contents]
    broad, near = excess_likeness(vectors, DECAY), excess_likeness(vectors, FAST_DECAY)

    def flag(holds: Callable[[str], bool]) -> Floats:
        return np.array([holds(content) for content in contents], dtype=np.float64)

    ask = flag(lambda text: asks(text) or lexicon.has("request", text))
    close = flag(lambda text: lexicon.has("closing", text))
    lean = flag(lambda text: lexicon.has("reply", text) or lexicon.has("pointing", text))
    columns = [
        near,
        broad - broad.min(),
        depth(near),
        count_shared(words, 3),
        np.log1p([float(len(bag)) for bag in words[1:]]),
        ask[:-1],
        ask[1:],
        flag(lambda text: lexicon.has("opening", text))[1:],
        lean[1:],
        close[:-1],
        close[1:],
        np.ones(len(lines) - 1),
    ]
    return np.stack(columns, axis=1)


def topic_log_odds(lines: Sequence[Line], vectors: Vectors, lexicon: Lexicon) -> Floats:
    """Return for each gap the log-odds that a new topic starts there; time plays no part."""
    weights = np.array(list(WEIGHTS.values()))
    return np.asarray(measure_gaps(lines, vectors, lexicon) @ weights, dtype=np.float64)
