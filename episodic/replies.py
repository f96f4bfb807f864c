"""The forms in which a language model answers about episodes."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Reply(BaseModel):
    """Base: unknown fields are passed over; errors never show the input."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


class SurpriseLevel(StrEnum):
    """How unexpected an episode is, in the words that a model is asked for."""

    LOW = "low"
    HIGH = "high"
    EXTREMELY_HIGH = "extremely_high"


class SegmentReply(Reply):
    """One episode: local numbers, both ends included. Words may be missing."""

    reasoning: str = ""
    first: int
    last: int
    title: str = ""
    summary: str = ""
    surprise: SurpriseLevel


class SegmentationReply(Reply):
    """The whole partition."""

    episodes: list[SegmentReply]


class RatingReply(Reply):
    """One rating. The rating is any text here: an unknown one is counted, not fatal."""

    reasoning: str = ""
    alias: str
    rating: str


class ReviewReply(Reply):
    """Every rating."""

    ratings: list[RatingReply]
