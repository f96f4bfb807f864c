"""The order in which single messages deserve a place in a budget: formulas only.

Scores are deviations from the mean message, so that they add up: a message that is one
deviation closer in meaning outweighs one that is half a deviation richer in words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SPEAKER_BONUS = 0.8
"""For a message by somebody whom the question names."""
POINTER_BONUS = 1.25
"""For a message that says the best fact; less for lesser facts."""
TIME_BONUS = 1.5
"""For a message of the days that the question names; less for days near them."""
POINTER_K = 9
"""Halves the bonus of the fact at rank 11: facts agree less with the question further down."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A message that may be packed.

    `score` is the search's own; `closeness` 1.0 on the days asked for, 0.0 far from them.
    """

    seq: int
    speaker: str
    score: float
    retrievability: float
    closeness: float = 0.0


def rank(
    candidates: Sequence[Candidate], *, named: frozenset[str], fact_ranks: Mapping[int, float]
) -> list[int]:
    """Return the seqs of the candidates, best first.

    `fact_ranks` has, by seq, the rank of the best found fact that a message says.
    """
    scores = {
        candidate.seq: weigh(
            candidate,
            is_named=candidate.speaker in named,
            fact_rank=fact_ranks.get(candidate.seq),
        )
        for candidate in candidates
    }
    return sorted(scores, key=lambda seq: (-scores[seq], seq))


def weigh(candidate: Candidate, *, is_named: bool, fact_rank: float | None) -> float:
    """Return the score of a message with all that speaks for it.

    A factor, retrievability, enters a sum by its logarithm.
    """
    score = candidate.score + math.log(max(candidate.retrievability, 1e-9))
    score += TIME_BONUS * candidate.closeness
    if is_named:
        score += SPEAKER_BONUS
    if fact_rank is not None:
        score += POINTER_BONUS * (POINTER_K + 1) / (POINTER_K + fact_rank)
    return score
