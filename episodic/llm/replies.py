"""The forms in which a language model answers about episodes."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from memoryproject.ai.replies import Lists, Reply, Rows


class SurpriseLevel(StrEnum):
    """How unexpected an episode is, in the words that a model is asked for."""

    LOW = "low"
    HIGH = "high"
    EXTREMELY_HIGH = "extremely_high"


def _read_level(level: Any) -> Any:
    """Return a known level. An unknown word does not make the whole reply invalid."""
    word = str(level).strip().lower()
    return word if word in set(SurpriseLevel) else SurpriseLevel.LOW


# Inlined in the schema: a reference would make every prompt longer.
Level = Annotated[
    SurpriseLevel,
    BeforeValidator(_read_level),
    WithJsonSchema({"enum": [level.value for level in SurpriseLevel], "type": "string"}),
]


class SegmentReply(Reply):
    """One episode: where it ends, title, summary and surprise. Texts may be missing."""

    last: int
    title: str = ""
    summary: str = ""
    surprise: Level = SurpriseLevel.LOW


class SegmentationReply(Reply):
    """The whole partition: every row counts, since each begins where the one before it ends."""

    episodes: list[SegmentReply]


class RatingReply(Reply):
    """One rating. The rating is any text here: an unknown one is counted, not fatal."""

    ref: str
    rating: str


class ReviewReply(Lists):
    """Every rating."""

    ratings: Rows[RatingReply]
