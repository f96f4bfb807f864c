"""Loading the rows behind what was found, a fixed number of queries a kind."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from episodic import queries as episodic_queries
from episodic.models import Episode, Message
from memoryproject.tenancy.models import Tenant
from retrieval.hits import EpisodeHit, FactHit
from retrieval.search import Found
from semantic import queries as semantic_queries
from semantic.models import Evidence, Fact


def facts_shown(found: Sequence[Found]) -> list[FactHit]:
    """Return facts as the search brought them, without a query: fit for markdown."""
    hits = []
    for hit in found:
        if hit.shown:
            category, words, valid_at, sources = hit.shown
            fields = ("id", "category", "fact", "valid_at")
            values = (hit.memory_id, category, words, datetime.fromisoformat(valid_at))
            hits.append(FactHit(hit, Fact.from_db("default", fields, values), sources))
    return hits


def episodes_shown(
    tenant: Tenant, found: Sequence[Found], *, shows: Callable[[EpisodeHit], bool]
) -> list[EpisodeHit]:
    """Return episodes as the search brought them, fit for markdown.

    One query, if there is an episode of which `shows` says that its messages are wanted.
    """
    hits = []
    for hit in found:
        if hit.shown:
            title, summary, surprise, end_at = hit.shown
            fields = ("id", "title", "summary", "surprise", "end_at")
            values = (hit.memory_id, title, summary, surprise, datetime.fromisoformat(end_at))
            hits.append(EpisodeHit(hit, Episode.from_db("default", fields, values), ()))
    return _add_messages(tenant, hits, of=[hit for hit in hits if shows(hit)])


def load_facts(tenant: Tenant, found: Sequence[Found]) -> list[FactHit]:
    """Load facts, evidence and source messages: three queries, however many hits."""
    ids = [hit.memory_id for hit in found]
    facts = Fact.objects.of(tenant).in_bulk(ids)
    evidence = semantic_queries.evidence_of(tenant=tenant, fact_ids=ids)
    messages = load_sources(tenant, [row for rows in evidence.values() for row in rows])
    return [
        FactHit(
            found=hit,
            fact=facts[hit.memory_id],
            sources=len(evidence[hit.memory_id]),
            evidence=tuple(evidence[hit.memory_id]),
            messages=tuple(
                messages[row.episode_id, seq]
                for row in evidence[hit.memory_id]
                for seq in row.message_seqs
                if (row.episode_id, seq) in messages
            ),
        )
        for hit in found
        if hit.memory_id in facts
    ]


def load_sources(
    tenant: Tenant, evidence: Iterable[Evidence]
) -> dict[tuple[uuid.UUID | None, int], Message]:
    """Return the messages that evidence names, by episode and seq, in one query."""
    seqs = {(row.episode_id, seq) for row in evidence for seq in row.message_seqs}
    named = Message.objects.of(tenant).filter(
        episode__in={episode_id for episode_id, _ in seqs}, seq__in={seq for _, seq in seqs}
    )
    return {(message.episode_id, message.seq): message for message in named}


def load_episodes(tenant: Tenant, found: Sequence[Found]) -> list[EpisodeHit]:
    """Load episodes and their messages: two queries, however many hits."""
    episodes = Episode.objects.of(tenant).in_bulk([hit.memory_id for hit in found])
    hits = [
        EpisodeHit(found=hit, episode=episodes[hit.memory_id], messages=())
        for hit in found
        if hit.memory_id in episodes
    ]
    return _add_messages(tenant, hits, of=hits)


def _add_messages(
    tenant: Tenant, hits: list[EpisodeHit], *, of: Sequence[EpisodeHit]
) -> list[EpisodeHit]:
    """Return the hits, those in `of` with their messages."""
    if not of:
        return hits
    wanted = [hit.episode.id for hit in of]
    messages = episodic_queries.messages_of_episodes(tenant=tenant, episode_ids=wanted)
    return [replace(hit, messages=tuple(messages.get(hit.episode.id, ()))) for hit in hits]
