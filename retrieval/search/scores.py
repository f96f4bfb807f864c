"""Scores of search: how the two legs fuse into one order, and how relevant a memory is, 0 to 1.

The specification's numbers are the defaults of fusion. A tenant's settings may hold others
under `fusion`, and a call may bring its own. docs/concepts/search.md says what relevance rests on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

SETTING = "fusion"
"""The key in a tenant's settings."""
DEPTH_AT_MOST = 500
K_AT_MOST = 1000
WEIGHT_AT_MOST = 100.0


@dataclass(frozen=True, slots=True)
class Fusion:
    """The numbers of `score = (lexical_weight / (k + rank) + vector_weight / (k + rank)) * R`.

    `depth`: memories that each leg brings, at most. `floor`: R, the retrievability of an
    episode, counts as this much at least; 0.0 lets the forgotten sink, 1.0 ignores time.
    """

    k: int = 60
    depth: int = 100
    lexical_weight: float = 1.0
    vector_weight: float = 1.0
    floor: float = 0.0

    def changed(self, given: Mapping[str, Any] | None) -> Fusion:
        """Return these numbers with some replaced; unknown names are passed over."""
        known = {field.name for field in fields(self)}
        return replace(self, **{k: v for k, v in (given or {}).items() if k in known})

    def as_parameters(self) -> dict[str, float]:
        """Return the numbers by name."""
        return asdict(self)


DEFAULTS = Fusion()
"""The specification's."""


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
