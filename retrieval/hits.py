"""Memories that answer a query, together with the rows behind them, and how those are loaded."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from typing import Any

from episodic import queries as episodic_queries
from episodic.models import Conversation, Episode, Message
from indexing.models import MemoryKind
from memoryproject.tenancy.models import Tenant
from semantic import queries as semantic_queries
from semantic.models import Evidence, Fact

PINNED_AT_MOST = 10
"""Facts that an agent gets unasked: guidelines, and what may endanger somebody."""


@dataclass(frozen=True, slots=True)
class LineMatch:
    """A message that matches. `score`: deviations from the mean message, over both legs."""

    seq: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers, with how it got there. Ranks start at 1; None: not in that leg."""

    memory_id: uuid.UUID
    shelf: MemoryKind
    rank: int
    score: float
    rrf: float = 0.0
    retrievability: float = 1.0
    lexical_rank: int | None = None
    vector_rank: int | None = None
    lexical_found: int = 0
    vector_found: int = 0
    lines: tuple[LineMatch, ...] = ()
    terms: tuple[str, ...] = ()
    """Lexemes of the query that it holds, where an explanation was asked for."""
    shown: tuple[Any, ...] = ()
    """What markdown prints of it, where that was asked for; see `hybrid.sql`."""
    lexical_score: float | None = None
    """BM25 of its best unit; None: not in that leg."""
    cosine: float | None = None
    """Of its unit that is nearest in meaning; None: not in that leg."""
    newer: tuple[uuid.UUID, ...] = ()
    """Facts that were found too and seem to contradict it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Hit):
    """A memory that answers a search of a whole tenant; its score is the relevance, 0 to 1.

    `rank` is 0 until it is known which of all are shown. `at`: when it was so, by which
    recency goes. `distance` is 1 less the cosine, None where meaning did not find it.
    `depth`: links that lead here from what the query found, 0 where the query found it.
    """

    source_type: str
    importance: float
    combined: float
    at: datetime
    distance: float | None = None
    depth: int = 0


@dataclass(frozen=True, slots=True)
class FactHit:
    """A served fact, its evidence oldest first, and the messages that say it.

    `sources`: how many episodes support it. Plain markdown needs no more than that and
    the fact's words; evidence and messages are then empty.
    """

    found: Hit
    fact: Fact
    sources: int
    evidence: tuple[Evidence, ...] = ()
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class EpisodeHit:
    """A served episode and those of its messages that the answer holds, oldest first."""

    found: Hit
    episode: Episode
    messages: tuple[Message, ...]


def facts_shown(hits: Sequence[Hit]) -> list[FactHit]:
    """Return facts as the search brought them, without a query: fit for markdown."""
    rows = []
    for hit in hits:
        if hit.shown:
            category, words, valid_at, sources = hit.shown
            fields = ("id", "category", "fact", "valid_at")
            values = (hit.memory_id, category, words, datetime.fromisoformat(valid_at))
            rows.append(FactHit(hit, Fact.from_db("default", fields, values), sources))
    return rows


def episodes_shown(
    tenant: Tenant, hits: Sequence[Hit], *, shows: Callable[[EpisodeHit], bool]
) -> list[EpisodeHit]:
    """Return episodes as the search brought them, fit for markdown.

    One query, if there is an episode of which `shows` says that its messages are wanted.
    """
    rows = []
    for hit in hits:
        if hit.shown:
            title, summary, surprise, end_at = hit.shown
            fields = ("id", "title", "summary", "surprise", "end_at")
            values = (hit.memory_id, title, summary, surprise, datetime.fromisoformat(end_at))
            rows.append(EpisodeHit(hit, Episode.from_db("default", fields, values), ()))
    return _add_messages(tenant, rows, of=[row for row in rows if shows(row)])


def load_facts(tenant: Tenant, hits: Sequence[Hit]) -> list[FactHit]:
    """Load facts, evidence and source messages: three queries, however many hits."""
    ids = [hit.memory_id for hit in hits]
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
        for hit in hits
        if hit.memory_id in facts
    ]


def load_sources(
    tenant: Tenant, evidence: Iterable[Evidence], *, with_content: bool = True
) -> dict[tuple[uuid.UUID | None, int], Message]:
    """Return the messages that evidence names, by episode and seq, in one query.

    Without content they have its size instead.
    """
    seqs = {(row.episode_id, seq) for row in evidence for seq in row.message_seqs}
    messages = Message.objects.of(tenant).filter(
        episode__in={episode_id for episode_id, _ in seqs}, seq__in={seq for _, seq in seqs}
    )
    rows = messages if with_content else episodic_queries.without_content(messages)
    return {(message.episode_id, message.seq): message for message in rows}


def load_episodes(tenant: Tenant, hits: Sequence[Hit]) -> list[EpisodeHit]:
    """Load episodes and their messages: two queries, however many hits."""
    rows = load_headlines(tenant, hits)
    return _add_messages(tenant, rows, of=rows)


def load_headlines(tenant: Tenant, hits: Sequence[Hit]) -> list[EpisodeHit]:
    """Load episodes without their messages, in one query."""
    rows = Episode.objects.of(tenant).select_related("conversation")
    episodes = rows.in_bulk([hit.memory_id for hit in hits])
    return [
        EpisodeHit(found=hit, episode=episodes[hit.memory_id], messages=())
        for hit in hits
        if hit.memory_id in episodes
    ]


def _add_messages(
    tenant: Tenant, hits: list[EpisodeHit], *, of: Sequence[EpisodeHit]
) -> list[EpisodeHit]:
    """Return the hits, those in `of` with their messages."""
    if not of:
        return hits
    episode_ids = [hit.episode.id for hit in of]
    messages = episodic_queries.messages_of_episodes(tenant=tenant, episode_ids=episode_ids)
    return [replace(hit, messages=tuple(messages.get(hit.episode.id, ()))) for hit in hits]


def find_pinned(conversation: Conversation, *, beside: Sequence[Hit]) -> list[Hit]:
    """Return the pinned facts that a search has not found, newest first, ranked behind it."""
    known = {hit.memory_id for hit in beside}
    facts = semantic_queries.pinned_facts(conversation, at_most=PINNED_AT_MOST + len(known))
    missing = [(fact, sources) for fact, sources in facts if fact.id not in known]
    ranks = count(1 + max((hit.rank for hit in beside), default=0))
    return [
        Hit(
            memory_id=fact.id,
            shelf=MemoryKind.FACT,
            rank=next(ranks),
            score=0.0,
            shown=(fact.category, fact.fact, fact.valid_at.isoformat(), sources),
        )
        for fact, sources in missing[:PINNED_AT_MOST]
    ]
