"""The page of an episode: its messages, facts, retrievability, reviews, and answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

from console.conversations.forgetting_curve import REVIEWS_AT_MOST, describe_memory, draw_forgetting
from console.conversations.timeline import MESSAGES_A_PAGE, Block, SupportedFact, facts_from
from console.servings import list_servings
from console.transcript import read_transcript, render_span
from episodic import queries
from episodic.models import Episode, Message, Review
from episodic.revealing import Reader

SERVED_AT_MOST = 50


def get_story(request: HttpRequest, episode: Episode) -> Mapping[str, Any]:
    """Return what stands above an episode's columns."""
    sees, reader = request.user.has_perm, Reader(request.user)
    now = queries.database_now()
    reviews = newest_reviews(episode) if sees("episodic.view_review") else []
    earlier, later = find_neighbours(episode)
    facts: list[SupportedFact] = []
    if sees("semantic.view_fact"):
        facts = facts_from(tenant=episode.tenant, episode_ids=[episode.id]).get(episode.id, [])
    reads = sees("episodic.view_message")
    return {
        "reader": reader if reads else None,
        "conversation": episode.conversation,
        "transcript": _transcript(episode, facts, reader=reader if reads else None),
        "lasted": render_span(episode.end_at - episode.start_at),
        "memory": describe_memory(episode, now=now),
        "forgetting": draw_forgetting(episode, reviews, now=now),
        "reviews": reviews[::-1],
        "served": list_servings(episode, at_most=SERVED_AT_MOST)
        if sees("retrieval.view_retrieval")
        else [],
        "served_at_most": SERVED_AT_MOST,
        "earlier": earlier,
        "later": later,
    }


def _transcript(episode: Episode, facts: list[SupportedFact], *, reader: Reader | None) -> Block:
    """Return an episode's messages with its facts; no messages for who may not see any."""
    if reader is None:
        return Block([], episode=episode, facts=facts)
    messages = Message.objects.of(episode.tenant).filter(episode=episode)
    within = messages.filter(seq__lt=episode.first_seq + MESSAGES_A_PAGE)
    shown = read_transcript(within, conversation_id=episode.conversation_id, reader=reader)
    return Block(shown, episode=episode, facts=facts)


def newest_reviews(episode: Episode) -> list[Review]:
    """Return the last ratings of an episode, oldest first."""
    reviews = Review.objects.of(episode.tenant).filter(episode=episode)
    return list(reviews.order_by("-created_at", "-id")[:REVIEWS_AT_MOST])[::-1]


def find_neighbours(episode: Episode) -> tuple[Episode | None, Episode | None]:
    """Return the episodes before and after one in its conversation."""
    others = Episode.objects.of(episode.tenant).filter(conversation=episode.conversation_id)
    earlier = others.filter(first_seq__lt=episode.first_seq).order_by("-first_seq")
    later = others.filter(first_seq__gt=episode.first_seq).order_by("first_seq")
    return earlier.first(), later.first()
