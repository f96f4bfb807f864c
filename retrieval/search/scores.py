"""Scores of search: how relevant a memory is, 0 to 1.

docs/concepts/search.md says what relevance rests on; retrieval/sql/hybrid.sql fuses the two legs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NEUTRAL = 0.5
"""Score of every memory where everything is asked for, and of what one link leads to."""
KEPT_A_HOP = 0.5
"""Share of the relevance of a linked memory that is left with each further link."""
RELEVANCE_WEIGHT = 0.7
IMPORTANCE_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class Likeness:
    """The cosines of query and text that count 0 (`unlike`) and 1 (`like`)."""

    unlike: float
    like: float

    def share(self, cosine: float) -> float:
        """Return what a cosine counts: 0.0 to 1.0."""
        return min(max((cosine - self.unlike) / (self.like - self.unlike), 0.0), 1.0)


USUAL = Likeness(unlike=0.25, like=0.75)
"""Bounds for a model that was not measured here."""
LIKENESS = {
    "e5-small-q4": Likeness(unlike=0.80, like=0.90),
    "minilm-l6-v2-int8": Likeness(unlike=0.36, like=0.76),
}
"""Cosines under which 99 of 100 unrelated pairs stay, and 99 of 100 questions with the very
message that answers them, by model.
"""


def likeness_of(model: str) -> Likeness:
    """Return how the cosines of a model are read."""
    return LIKENESS.get(model, USUAL)


RELEVANCE_SLOPE = 6.6
RELEVANCE_BASE = -4.0
"""Weights of a logistic regression on LoCoMo; `bench.quality relevance` checks them."""


def estimate_relevance(likeness: float) -> float:
    """Return how likely an answer holds what was asked for, from how much its best fact is like it.

    Of the answers that get 0.8, about eight in ten do: docs/figures.md says on which data.
    """
    return 1 / (1 + math.exp(-(RELEVANCE_SLOPE * likeness + RELEVANCE_BASE)))


def linked_relevance(depth: int) -> float:
    """Return what a memory counts that `depth` links lead to, from 1: 0.5, 0.25, 0.125, …"""
    return NEUTRAL * KEPT_A_HOP ** (depth - 1)


def combine(*, relevance: float, importance: float) -> float:
    """Return both in one number, 0.0 to 1.0."""
    return RELEVANCE_WEIGHT * relevance + IMPORTANCE_WEIGHT * importance
