"""Loading the rows behind what was found, a fixed number of queries a kind."""

from __future__ import annotations

from collections.abc import Sequence

from episodic import queries as episodic_queries
from episodic.models import Episode, Message
from memoryproject.tenancy.models import Tenant
from retrieval.hits import EpisodeHit, FactHit
from retrieval.search import Found
from semantic import queries as semantic_queries
from semantic.models import Fact


def load_facts(tenant: Tenant, found: Sequence[Found]) -> list[FactHit]:
    """Load facts, evidence and source messages: three queries, however many hits."""
    ids = [hit.memory_id for hit in found]
    facts = Fact.objects.of(tenant).in_bulk(ids)
    evidence = semantic_queries.evidence_of(tenant=tenant, fact_ids=ids)
    seqs = {
        (row.episode_id, seq)
        for rows in evidence.values()
        for row in rows
        for seq in row.message_seqs
    }
    messages = {
        (message.episode_id, message.seq): message
        for message in Message.objects.of(tenant).filter(
            episode__in={episode_id for episode_id, _ in seqs}, seq__in={seq for _, seq in seqs}
        )
    }
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


def load_episodes(tenant: Tenant, found: Sequence[Found]) -> list[EpisodeHit]:
    """Load episodes and their messages: two queries, however many hits."""
    ids = [hit.memory_id for hit in found]
    episodes = Episode.objects.of(tenant).in_bulk(ids)
    messages = episodic_queries.messages_of_episodes(tenant=tenant, episode_ids=ids)
    return [
        EpisodeHit(
            found=hit,
            episode=episodes[hit.memory_id],
            messages=tuple(messages[hit.memory_id]),
        )
        for hit in found
        if hit.memory_id in episodes
    ]
