"""The interface of a segmenter and of a reviewer, with or without a language model.

Every question can be answered by a language model or by the offline engine. Both get these plain
values and return these plain values; neither sees an id, a model instance or the database.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Line:
    """One message as the engines see it.

    `name` is empty if the agent gave none; `content` is as posted.
    """

    seq: int
    role: str
    name: str
    content: str
    at: datetime

    @property
    def speaker(self) -> str:
        """The name to print before the line: the message's name, else its role."""
        return self.name or self.role

    @property
    def text(self) -> str:
        """The line as it is indexed and shown to a model."""
        return f"{self.speaker}: {self.content}"


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of lines: local indexes, both ends included.

    `surprise` is 0.0..1.0; `title` and `summary` are never empty.
    """

    first: int
    last: int
    title: str
    summary: str
    surprise: float


@dataclass(frozen=True, slots=True)
class Segmentation:
    """Consecutive segments that cover all of the lines, in order.

    `degraded` says that the engine asked for failed and the offline one answered.
    """

    segments: tuple[Segment, ...]
    engine: str
    degraded: bool = False


class Segmenter(Protocol):
    """Splits a window of lines into episodes."""

    def segment(
        self, *, lines: Sequence[Line], vectors: Vectors, previous_summary: str
    ) -> Segmentation:
        """Return a partition of `lines`.

        `vectors` has one unit vector per line, in order. `previous_summary` tells what
        the conversation was about before the window; it may be empty.
        """


class Rating(StrEnum):
    """How well a served episode was used, in FSRS's words."""

    AGAIN = "again"
    HARD = "hard"
    GOOD = "good"
    EASY = "easy"


@dataclass(frozen=True, slots=True)
class ServedEpisode:
    """An episode that a retrieve call served, with the query that asked for it.

    `alias` is what a model calls it (E1, E2, …); `vector` is the unit vector of
    its title and summary.
    """

    alias: str
    query: str
    title: str
    summary: str
    vector: Vectors


@dataclass(frozen=True, slots=True)
class Judgement:
    """Ratings by alias; an alias left out is not rated. `degraded` is as in `Segmentation`.

    `ignored` counts answers that named no served episode or no known rating.
    """

    ratings: dict[str, Rating]
    engine: str
    degraded: bool = False
    ignored: int = 0


class Reviewer(Protocol):
    """Rates how the conversation used the episodes that an answer served to it."""

    def review(
        self, *, served: Sequence[ServedEpisode], lines: Sequence[Line], vectors: Vectors
    ) -> Judgement:
        """Judge the served episodes by the messages said after the retrieval.

        `vectors` has one unit vector per line.
        """
