"""Scores of search: the relevance of a memory, 0 to 1.

docs/concepts/search.md explains relevance; retrieval/sql/hybrid.sql fuses the two rankings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NEUTRAL = 0.5
"""Score of every memory if everything is asked for, and of a memory reached by one link."""
KEPT_A_HOP = 0.5
"""Share of a linked memory's relevance that remains after each further link."""
RELEVANCE_WEIGHT = 0.7
IMPORTANCE_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class Likeness:
    """The cosines that count as 0 (`unlike`) and as 1 (`like`)."""

    unlike: float
    like: float

    def share(self, cosine: float) -> float:
        """Return the value of a cosine: 0.0 to 1.0."""
        return min(max((cosine - self.unlike) / (self.like - self.unlike), 0.0), 1.0)


USUAL = Likeness(unlike=0.25, like=0.75)
"""Bounds for a model without measured ones."""
LIKENESS = {
    "e5-small-q4": Likeness(unlike=0.80, like=0.90),
    "minilm-l6-v2-int8": Likeness(unlike=0.36, like=0.76),
}
"""By model: the cosines below which 99 of 100 unrelated pairs lie, and 99 of 100 questions paired
with the message that answers them."""


def likeness_of(model: str) -> Likeness:
    """Return the bounds of a model."""
    return LIKENESS.get(model, USUAL)


RELEVANCE_SLOPE = 6.6
RELEVANCE_BASE = -4.0
"""Weights of a logistic regression on LoCoMo; `bench.quality relevance` checks them."""


EPISODE_SHARE = 0.6
"""Share of an episode's similarity that counts beside facts: with 0.7 LoCoMo's adversarial
questions are told apart worse (AUROC .699 instead of .711), with 0 what assistants said is lost."""


def estimate_relevance(likeness: float) -> float:
    """Return how likely an answer contains what was asked for, by its best fact's similarity.

    Of the answers with 0.8, about eight in ten do: docs/figures.md names the data.
    """
    return 1 / (1 + math.exp(-(RELEVANCE_SLOPE * likeness + RELEVANCE_BASE)))


def linked_relevance(depth: int) -> float:
    """Return the relevance of a memory reached by `depth` links, from 1: 0.5, 0.25, 0.125, …"""
    return NEUTRAL * KEPT_A_HOP ** (depth - 1)


def combine(*, relevance: float, importance: float) -> float:
    """Return both scores as one number, 0.0 to 1.0."""
    return RELEVANCE_WEIGHT * relevance + IMPORTANCE_WEIGHT * importance
