"""The form in which a language model answers about facts."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from semantic.engines import Action, Category


class Reply(BaseModel):
    """Base: unknown fields are passed over; errors never show the input."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


class FactReply(Reply):
    """One proposed change. What is not asked of every action may be missing."""

    reasoning: str = ""
    action: Action
    alias: str | None = None
    category: Category
    fact: str
    keywords: list[str] = []
    episode: str | None = None
    messages: list[int] = []


class ConsolidationReply(Reply):
    """Everything proposed."""

    facts: list[FactReply]
