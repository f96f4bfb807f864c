"""A case as JSON: the same as on its page, masked where that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from console.case import Case, Later, ServedEpisode, ServedFact, Source
from console.transcript import Said
from memoryproject.fields import say_moment
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
        "facts": [_fact(one) for one in case.facts],
        "episodes": [_episode(one) for one in case.episodes],
        "said_before": _said(case.before),
        "said_after": _said(case.after),
    }


def _hit(hit: RetrievalHit) -> dict[str, Any]:
    return {
        "id": str(hit.memory_id),
        "rank": hit.rank,
        "score": hit.score,
        "rank_by_words": hit.lexical_rank,
        "rank_by_meaning": hit.vector_rank,
    }


def _fact(one: ServedFact) -> dict[str, Any]:
    fact = one.fact
    return {
        **_hit(one.hit),
        "fact": fact.fact if fact else None,
        "category": fact.category if fact else None,
        "true_from": say_moment(fact.valid_at) if fact else None,
        "true_until_as_then_believed": (
            say_moment(one.valid_until_then) if one.valid_until_then else None
        ),
        "state_then": one.state_then,
        "state_now": one.state_now,
        "words_said_next": list(one.used),
        "sources": [_source(source) for source in one.sources],
        "later": [_later(later) for later in one.later],
    }


def _source(source: Source) -> dict[str, Any]:
    return {
        "episode_id": str(source.episode.id),
        "title": source.episode.title,
        "state": source.state or "counted",
        "messages": _said(source.said),
    }


def _later(later: Later) -> dict[str, Any]:
    return {
        "at": say_moment(later.at),
        "what": later.what,
        "by": later.changeset.actor,
        "reason": later.changeset.reason or None,
        "changeset_id": str(later.changeset.id),
        "newer_fact": later.newer.fact if later.newer else None,
    }


def _episode(one: ServedEpisode) -> dict[str, Any]:
    episode = one.episode
    return {
        **_hit(one.hit),
        "title": episode.title if episode else None,
        "summary": episode.summary if episode else None,
        "messages": _said(one.said),
        "reviewed_as": [review.rating for review in one.reviews],
    }


def _said(said: Sequence[Said]) -> list[dict[str, Any]]:
    return [
        {
            "id": str(one.id),
            "seq": one.seq,
            "role": one.role,
            "speaker": one.speaker,
            "at": say_moment(one.at),
            "content": one.text,
            "is_masked": one.is_masked,
            "characters": one.characters,
        }
        for one in said
    ]
