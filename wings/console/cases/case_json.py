"""A case as JSON, with the masks that its page shows to people who may not read messages."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from memoryproject.edge.fields import say_moment
from wings.console.cases.case import Case
from wings.console.transcript import ShownMessage

OF_HIT = "id=memory_id rank score rank_by_words=lexical_rank rank_by_meaning=vector_rank mark?"
OF_FACT = (
    f"{OF_HIT} fact=fact.fact category=fact.category true_from=fact.valid_at "
    "true_until_as_then_believed=valid_until_then state_then state_now words_said_next=used"
)
OF_CHANGE = (
    "at=changeset.started_at what by=changeset.actor reason=changeset.reason? "
    "changeset_id=changeset.id newer_fact=newer.fact"
)
OF_MESSAGE = "id seq role speaker at=occurred_at content=text is_masked characters mark?"


def render_case(case: Case) -> dict[str, Any]:
    receipt = case.retrieval
    asked = "asked_at=created_at asked_by=asked_by.name"
    found = "query parameters embedding_model? degraded? found_by_leg=counts tokens through_seq"
    return {
        **_pick(receipt, "receipt_id=id tenant=tenant.name"),
        **_pick(receipt, f"conversation_id=conversation.external_id {asked}"),
        "call": receipt.get_kind_display(),
        **_pick(receipt, found),
        "facts": [_render_fact(row) for row in case.facts],
        "episodes": [_render_episode(row) for row in case.episodes],
        "said_before": _render_messages(case.before),
        "said_after": _render_messages(case.after),
        "assistant_said_next": _pick(case.reply, OF_MESSAGE) if case.reply else None,
    }


def _pick(row: Any, columns: str) -> dict[str, Any]:
    """Return columns of a row, `name=path` if they differ; None if the path ends early.

    With a `?` at the end, an empty text becomes None.
    """
    picked: dict[str, Any] = {}
    for column in columns.split():
        name, _, path = column.rstrip("?").partition("=")
        value = row
        for step in (path or name).split("."):
            value = None if value is None else getattr(value, step)
        value = say_moment(value) if isinstance(value, datetime) else value
        picked[name] = value or None if column.endswith("?") else value
    return picked


def _render_fact(row: Any) -> dict[str, Any]:
    return {
        **_pick(row, OF_FACT),
        "sources": [_render_source(source) for source in row.sources],
        "later": [_pick(change, OF_CHANGE) for change in row.later],
    }


def _render_source(source: Any) -> dict[str, Any]:
    return {
        **_pick(source.episode, "episode_id=id title"),
        "state": source.state or "counted",
        "messages": _render_messages(source.messages),
    }


def _render_episode(row: Any) -> dict[str, Any]:
    return {
        **_pick(row, f"{OF_HIT} title=episode.title summary=episode.summary"),
        "messages": _render_messages(row.messages),
        "reviewed_as": [review.rating for review in row.reviews],
    }


def _render_messages(messages: Iterable[ShownMessage]) -> list[dict[str, Any]]:
    return [_pick(row, OF_MESSAGE) for row in messages]
