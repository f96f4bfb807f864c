"""The page of an episode: what was said, how well it is remembered, what rests on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

from console.forgetting import REVIEWS_AT_MOST, describe_memory, draw_forgetting
from console.timeline import MESSAGES_A_PAGE, Block, Learnt, learnt_from
from console.transcript import read_transcript, say_span
from episodic import queries
from episodic.models import Episode, Message, Review
from episodic.revealing import Reader
from retrieval.models import RetrievalHit

SERVED_AT_MOST = 50


def tell(request: HttpRequest, episode: Episode) -> Mapping[str, Any]:
    """Return what stands above an episode's columns."""
    sees, reader = request.user.has_perm, Reader(request.user)
    now = queries.database_now()
    reviews = newest_reviews(episode) if sees("episodic.view_review") else []
    earlier, later = find_neighbours(episode)
    facts: list[Learnt] = []
    if sees("semantic.view_fact"):
        facts = learnt_from(tenant=episode.tenant, episode_ids=[episode.id]).get(episode.id, [])
    reads = sees("episodic.view_message")
    return {
        "reader": reader if reads else None,
        "conversation": episode.conversation,
        "told": _transcript(episode, facts, reader=reader if reads else None),
        "lasted": say_span(episode.end_at - episode.start_at),
        "memory": describe_memory(episode, now=now),
        "forgetting": draw_forgetting(episode, reviews, now=now),
        "reviews": reviews[::-1],
        "served": newest_servings(episode) if sees("retrieval.view_retrieval") else [],
        "served_at_most": SERVED_AT_MOST,
        "earlier": earlier,
        "later": later,
    }


def _transcript(episode: Episode, facts: list[Learnt], *, reader: Reader | None) -> Block:
    """Return an episode's messages with its facts; no messages for who may not see any."""
    if reader is None:
        return Block([], episode=episode, learnt=facts)
    messages = Message.objects.of(episode.tenant).filter(episode=episode)
    within = messages.filter(seq__lt=episode.first_seq + MESSAGES_A_PAGE)
    said = read_transcript(within, conversation_id=episode.conversation_id, reader=reader)
    return Block(said, episode=episode, learnt=facts)


def newest_reviews(episode: Episode) -> list[Review]:
    """Return the last ratings of an episode, oldest first."""
    given = Review.objects.of(episode.tenant).filter(episode=episode)
    return list(given.order_by("-created_at", "-id")[:REVIEWS_AT_MOST])[::-1]


def newest_servings(episode: Episode) -> list[RetrievalHit]:
    """Return the last answers that an episode was part of, newest first."""
    hits = RetrievalHit.objects.of(episode.tenant).filter(memory_id=episode.id)
    return list(hits.select_related("retrieval__asked_by").order_by("-id")[:SERVED_AT_MOST])


def find_neighbours(episode: Episode) -> tuple[Episode | None, Episode | None]:
    """Return the episodes before and after one in its conversation."""
    others = Episode.objects.of(episode.tenant).filter(conversation=episode.conversation_id)
    earlier = others.filter(first_seq__lt=episode.first_seq).order_by("-first_seq")
    later = others.filter(first_seq__gt=episode.first_seq).order_by("first_seq")
    return earlier.first(), later.first()
