"""A case as JSON: what its page shows, masked for who may not read messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from console.cases.case import Case, CaseSource, ServedEpisode, ServedFact
from console.cases.fact_history import LaterChange
from console.transcript import ShownMessage
from memoryproject.edge.fields import say_moment
from retrieval.models import RetrievalHit


def render_case(case: Case) -> dict[str, Any]:
    """Return everything that the page of a case shows."""
    receipt = case.retrieval
    home = receipt.conversation
    return {
        "receipt_id": str(receipt.id),
        "tenant": receipt.tenant.name,
        "conversation_id": str(home.external_id) if home else None,
        "asked_at": say_moment(receipt.created_at),
        "asked_by": str(receipt.asked_by) if receipt.asked_by else None,
        "call": receipt.get_kind_display(),
        "query": receipt.query,
        "parameters": receipt.parameters,
        "embedding_model": receipt.embedding_model or None,
        "degraded": receipt.degraded or None,
        "found_by_leg": receipt.counts,
        "tokens": receipt.tokens,
        "through_seq": receipt.through_seq,
        "facts": [_fact(row) for row in case.facts],
        "episodes": [_episode(row) for row in case.episodes],
        "said_before": _render_messages(case.before),
        "said_after": _render_messages(case.after),
        "assistant_said_next": next(iter(_render_messages(filter(None, [case.reply]))), None),
    }


def _hit(hit: RetrievalHit) -> dict[str, Any]:
    return {
        "id": str(hit.memory_id),
        "rank": hit.rank,
        "score": hit.score,
        "rank_by_words": hit.lexical_rank,
        "rank_by_meaning": hit.vector_rank,
    }


def _fact(row: ServedFact) -> dict[str, Any]:
    fact = row.fact
    return {
        **_hit(row.hit),
        "fact": fact.fact if fact else None,
        "category": fact.category if fact else None,
        "true_from": say_moment(fact.valid_at) if fact else None,
        "true_until_as_then_believed": (
            say_moment(row.valid_until_then) if row.valid_until_then else None
        ),
        "state_then": row.state_then,
        "state_now": row.state_now,
        "words_said_next": list(row.used),
        "sources": [_source(source) for source in row.sources],
        "later": [_later(later) for later in row.later],
    }


def _source(source: CaseSource) -> dict[str, Any]:
    return {
        "episode_id": str(source.episode.id),
        "title": source.episode.title,
        "state": source.state or "counted",
        "messages": _render_messages(source.messages),
    }


def _later(later: LaterChange) -> dict[str, Any]:
    return {
        "at": say_moment(later.changeset.started_at),
        "what": later.what,
        "by": later.changeset.actor,
        "reason": later.changeset.reason or None,
        "changeset_id": str(later.changeset.id),
        "newer_fact": later.newer.fact if later.newer else None,
    }


def _episode(row: ServedEpisode) -> dict[str, Any]:
    episode = row.episode
    return {
        **_hit(row.hit),
        "title": episode.title if episode else None,
        "summary": episode.summary if episode else None,
        "messages": _render_messages(row.messages),
        "reviewed_as": [review.rating for review in row.reviews],
    }


def _render_messages(messages: Iterable[ShownMessage]) -> list[dict[str, Any]]:
    return [
        {
            "id": str(row.id),
            "seq": row.seq,
            "role": row.role,
            "speaker": row.speaker,
            "at": say_moment(row.occurred_at),
            "content": row.text,
            "is_masked": row.is_masked,
            "characters": row.characters,
        }
        for row in messages
    ]
