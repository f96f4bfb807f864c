"""A case as JSON: what its page shows, masked for who may not read messages."""

from collections.abc import Iterable
from datetime import datetime
from operator import attrgetter
from typing import Any
from uuid import UUID

from console.cases.case import Case, LaterChange
from console.transcript import ShownMessage
from memoryproject.edge.fields import say_moment

OF_HIT = "id=memory_id rank score rank_by_words=lexical_rank rank_by_meaning=vector_rank"
OF_MESSAGE = "id seq role speaker at=occurred_at content=text is_masked characters"


def render_case(case: Case) -> dict[str, Any]:
    receipt = case.retrieval
    return {
        **_pick(receipt, "receipt_id=id tenant=tenant.name"),
        **_pick(receipt.conversation, "conversation_id=external_id"),
        **_pick(receipt, "asked_at=created_at"),
        "asked_by": str(receipt.asked_by) if receipt.asked_by else None,
        "call": receipt.get_kind_display(),
        **_pick(receipt, "query parameters"),
        "embedding_model": receipt.embedding_model or None,
        "degraded": receipt.degraded or None,
        **_pick(receipt, "found_by_leg=counts tokens through_seq"),
        "facts": [_render_fact(row) for row in case.facts],
        "episodes": [_render_episode(row) for row in case.episodes],
        "said_before": _render_messages(case.before),
        "said_after": _render_messages(case.after),
        "assistant_said_next": _pick(case.reply, OF_MESSAGE) if case.reply else None,
    }


def _pick(row: Any, columns: str) -> dict[str, Any]:
    """Return columns of a row, `name=path` where they differ; without a row each is None."""
    picked: dict[str, Any] = {}
    for column in columns.split():
        name, _, path = column.partition("=")
        value = None if row is None else attrgetter(path or name)(row)
        value = say_moment(value) if isinstance(value, datetime) else value
        picked[name] = str(value) if isinstance(value, UUID) else value
    return picked


def _render_fact(row: Any) -> dict[str, Any]:
    return {
        **_pick(row, OF_HIT),
        **_pick(row.fact, "fact category true_from=valid_at"),
        **_pick(row, "true_until_as_then_believed=valid_until_then state_then state_now"),
        **_pick(row, "words_said_next=used"),
        "sources": [_render_source(source) for source in row.sources],
        "later": [_render_later(later) for later in row.later],
    }


def _render_source(source: Any) -> dict[str, Any]:
    return {
        **_pick(source.episode, "episode_id=id title"),
        "state": source.state or "counted",
        "messages": _render_messages(source.messages),
    }


def _render_later(later: LaterChange) -> dict[str, Any]:
    return {
        **_pick(later, "at=changeset.started_at what by=changeset.actor"),
        "reason": later.changeset.reason or None,
        **_pick(later.changeset, "changeset_id=id"),
        **_pick(later.newer, "newer_fact=fact"),
    }


def _render_episode(row: Any) -> dict[str, Any]:
    return {
        **_pick(row, OF_HIT),
        **_pick(row.episode, "title summary"),
        "messages": _render_messages(row.messages),
        "reviewed_as": [review.rating for review in row.reviews],
    }


def _render_messages(messages: Iterable[ShownMessage]) -> list[dict[str, Any]]:
    return [_pick(row, OF_MESSAGE) for row in messages]
