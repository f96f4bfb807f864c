"""Judges the messages that a search found once more, token by token: the second stage.

For each token of the question that says something, the nearest token of a message is looked for;
the sum of these likenesses, rare tokens counting more, stands out where a message holds the detail
that was asked for. It finds what the mean of a message's tokens does not.

Source: Khattab and Zaharia, "ColBERT", SIGIR 2020, for the sum of the best likenesses.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from memoryproject.ai.embeddings import Vectors
from memoryproject.ai.token_states import BYTES_A_TOKEN, VERSION, Asked, unpack

LATE_WEIGHT = 2.0
"""Of how far a message stands out by its tokens, where its words have 1."""
MEANING_BESIDE = 0.5
"""Of its vector's likeness where its tokens are compared: they say more than their mean."""


class Line(NamedTuple):
    """A message that was found: its place, its score, and what of that is its vector's likeness.

    Both in deviations from the mean message, `meaning` by itself, without its weight.
    `states`: see `token_states`; None: there are none.
    """

    seq: int
    score: float
    meaning: float
    states: bytes | None


def judge(lines: Sequence[Line], asked: Asked | None, *, meaning_weight: float) -> list[float]:
    """Return the score of each line with what its tokens say; the same where there are none.

    `meaning_weight`: with which a line's likeness stands in its score.
    """
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
        scores[place] += LATE_WEIGHT * own
        scores[place] -= (meaning_weight - MEANING_BESIDE) * lines[place].meaning
    return scores


def compare(packed: Sequence[bytes], asked: Asked) -> Vectors:
    """Return the likeness of each text's tokens to those asked for: shape (len(packed),).

    The mean cosine of each asked token with the nearest of the text, by the weights; 0 for a
    text without tokens.
    """
    counts = np.array([len(one) // BYTES_A_TOKEN for one in packed])
    likenesses = np.zeros(len(packed), dtype=np.float32)
    if counts.any():
        tokens = unpack(b"".join(packed))
        cosines = asked.states @ tokens.T / np.sqrt(np.einsum("ij,ij->i", tokens, tokens))
        starts = (np.cumsum(counts) - counts)[counts > 0]
        best = np.maximum.reduceat(cosines, starts, axis=1)
        likenesses[counts > 0] = asked.weights @ best / asked.weights.sum()
    return likenesses
