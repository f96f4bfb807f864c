"""Memories that answer a query, together with the rows behind them, and how those are loaded."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from episodic import queries as episodic_queries
from episodic.models import Episode, Message
from indexing.models import MemoryKind
from memoryproject.tenancy.models import Tenant
from semantic.models import Evidence, Fact


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


def episodes_shown(hits: Sequence[Hit]) -> list[EpisodeHit]:
    """Return episodes as the search brought them, without messages: fit for markdown."""
    rows = []
    for hit in hits:
        if hit.shown:
            title, summary, surprise, end_at = hit.shown
            fields = ("id", "title", "summary", "surprise", "end_at")
            values = (hit.memory_id, title, summary, surprise, datetime.fromisoformat(end_at))
            rows.append(EpisodeHit(hit, Episode.from_db("default", fields, values), ()))
    return rows


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
