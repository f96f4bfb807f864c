"""Scores the messages that a search found again, token by token: late interaction.

Each content token of the question is compared with the most similar token of a message; the sum of
these similarities, with rare tokens counting more, is high if a message has the detail that was
asked for. The mean of a message's tokens does not show that.

Source: Khattab and Zaharia, "ColBERT", SIGIR 2020, for the sum of the best likenesses.
"""

from collections.abc import Sequence
from io import BytesIO
from itertools import chain
from math import inf
from typing import Any, NamedTuple

import numpy as np

from memoryproject.ai.e5 import Vectors
from memoryproject.ai.token_states import BYTES_A_TOKEN, VERSION, Asked, measure_cosines
from memoryproject.database.batches import in_batches
from retrieval import tuning

AT_ONCE = 64
"""Number of texts whose unpacked numbers fit the processor's cache."""


class Line(NamedTuple):
    """A message that was found: place, score, and the part of it that is vector similarity.

    Scores are deviations from the mean message; `meaning` is not weighted. `states`: see
    `token_states`; None: none.
    """

    seq: int
    score: float
    meaning: float
    states: bytes | None


def read_lines(lines: Sequence[Sequence[Any]] | None, states: bytes | None) -> list[Line]:
    """Return the lines of a memory, each with its part of the states; see `hybrid.sql`."""
    file = BytesIO(states or b"")
    return [
        Line(seq, score, meaning, None if size is None else file.read(size))
        for seq, score, meaning, size in lines or ()
    ]


def judge(
    lines: Sequence[Sequence[Line]], asked: Asked | None, *, at_most: int
) -> list[list[tuple[int, float]]]:
    """Return seq and new score of each memory's lines, best first, of the best `at_most` in all.

    All are compared with each other; ties with the last are included.
    """
    scores = rescore([*chain(*lines)], asked)
    least = sorted(scores)[-at_most] if 0 < at_most < len(scores) else -inf
    score_of = iter(scores)
    scored = [[(next(score_of), line.seq) for line in own] for own in lines]
    return [
        [(seq, score) for score, seq in sorted(own, reverse=True) if score >= least]
        for own in scored
    ]


def rescore(lines: Sequence[Line], asked: Asked | None) -> list[float]:
    """Return the score of each line with its token score; unchanged if it has no states."""
    scores = [line.score for line in lines]
    judged = [
        place
        for place, line in enumerate(lines)
        if line.states is not None and line.states[0] == VERSION
    ]
    if asked is None or not len(asked.weights) or not judged:
        return scores
    likenesses = compare([(lines[place].states or b"")[1:] for place in judged], asked)
    deviation = float(likenesses.std()) or 1.0
    late = (likenesses - likenesses.mean()) / deviation
    for place, own in zip(judged, late.tolist(), strict=True):
        scores[place] += tuning.LATE_WEIGHT * own
        scores[place] -= (tuning.MEANING_WEIGHT - tuning.MEANING_BESIDE) * lines[place].meaning
    return scores


def compare(packed: Sequence[bytes], asked: Asked) -> Vectors:
    """Return the similarity of each text's tokens to the question's: shape (len(packed),).

    The weighted mean cosine of each question token with the text's most similar one; 0 for a text
    without tokens.
    """
    return np.concatenate([_compare_some(some, asked) for some in in_batches(packed, size=AT_ONCE)])


def _compare_some(packed: Sequence[bytes], asked: Asked) -> Vectors:
    counts = np.array([len(one) // BYTES_A_TOKEN for one in packed])
    likenesses = np.zeros(len(packed), dtype=np.float32)
    if counts.any():
        starts = (np.cumsum(counts) - counts)[counts > 0]
        best = np.maximum.reduceat(measure_cosines(b"".join(packed), asked), starts, axis=0)
        likenesses[counts > 0] = best @ asked.weights / asked.weights.sum()
    return likenesses
