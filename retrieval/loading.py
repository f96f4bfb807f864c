"""Loading the rows behind what was found, a fixed number of queries a kind."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from episodic import queries as episodic_queries
from episodic.models import Episode, Message
from memoryproject.tenancy.models import Tenant
from retrieval.hits import EpisodeHit, FactHit
from retrieval.search import Found
from semantic import queries as semantic_queries
from semantic.models import Evidence, Fact


def load_facts(
    tenant: Tenant, found: Sequence[Found], *, with_messages: bool = True
) -> list[FactHit]:
    """Load facts and evidence, and the messages that say them: a query each at most."""
    ids = [hit.memory_id for hit in found]
    facts = Fact.objects.of(tenant).in_bulk(ids)
    evidence = semantic_queries.evidence_of(tenant=tenant, fact_ids=ids)
    messages = _load_sources(tenant, evidence) if with_messages else {}
    return [
        FactHit(
            found=hit,
            fact=facts[hit.memory_id],
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


def _load_sources(
    tenant: Tenant, evidence: Mapping[uuid.UUID, Sequence[Evidence]]
) -> dict[tuple[uuid.UUID | None, int], Message]:
    """Return the messages that evidence names, by episode and seq."""
    seqs = {
        (row.episode_id, seq)
        for rows in evidence.values()
        for row in rows
        for seq in row.message_seqs
    }
    named = Message.objects.of(tenant).filter(
        episode__in={episode_id for episode_id, _ in seqs}, seq__in={seq for _, seq in seqs}
    )
    return {(message.episode_id, message.seq): message for message in named}


def load_episodes(
    tenant: Tenant, found: Sequence[Found], *, shows: Callable[[EpisodeHit], bool] | None = None
) -> list[EpisodeHit]:
    """Load episodes and their messages: two queries at most, however many hits.

    `shows` says of which episodes the messages are wanted; None: of all.
    """
    episodes = Episode.objects.of(tenant).in_bulk([hit.memory_id for hit in found])
    hits = [
        EpisodeHit(found=hit, episode=episodes[hit.memory_id], messages=())
        for hit in found
        if hit.memory_id in episodes
    ]
    wanted = [hit.episode.id for hit in hits if shows is None or shows(hit)]
    if not wanted:
        return hits
    messages = episodic_queries.messages_of_episodes(tenant=tenant, episode_ids=wanted)
    return [replace(hit, messages=tuple(messages.get(hit.episode.id, ()))) for hit in hits]
