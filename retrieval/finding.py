"""Finding memories in all that a tenant has: facts, episodes and notes in one order.

By words and by meaning, narrowed by filters, and by the links of what was found.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from pgvector import HalfVector

from indexing import text
from indexing.detection import detect_language
from indexing.languages import LANGUAGES, SIMPLE
from indexing.models import MemoryKind
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Vectors
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.tenancy.models import Tenant
from notes.kinds import LINK_TYPES, SourceType
from retrieval import navigation
from retrieval.navigation import Node
from retrieval.relevance import NEUTRAL, likeness_of, linked_relevance
from retrieval.statement import read_find

EVERYTHING = "*"
NOTE_TYPES = tuple(kind.value for kind in SourceType)
SOURCE_TYPES = (*NOTE_TYPES, MemoryKind.EPISODE.value, MemoryKind.FACT.value)
ORDERS = ("relevance", "recency", "importance", "combined")
CHARACTERS_READ = 2_000
"""Of a query; the default model reads no more either."""
WORDS_AT_MOST = 40
FREQUENT = 5_000
"""Units in which a word occurs, counted no further."""
CANDIDATES_AT_MOST = 5_000
"""Units that a word of the query brings. Of a more frequent one some are left to the others."""
NEAR_POOL = 400
"""Units of each kind that an approximate index brings."""
LINKED_AT_MOST = 500
"""Memories that links bring in, the nearest first: hubs have thousands of neighbours."""
STOPPED_BY = "english"
"""Whose stop words do not count in a query that is too short to tell its language."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to look for; all filters must hold, None does not narrow.

    A fact and an episode have their conversation (the agent's id, as text) as source; they
    have no user and no feeling, and an episode has no category, so such a filter leaves
    them out. `since` and `until` are both included.
    """

    query: str
    source_types: Sequence[str] | None = None
    source_ids: Sequence[str] | None = None
    conversation_id: uuid.UUID | None = None
    """The agent's own id."""
    user_id: str | None = None
    category: str | None = None
    min_importance: float | None = None
    emotion_valence: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    min_relevance: float = 0.0
    max_results: int = 10
    sort_by: str = "relevance"
    max_hops: int = 0
    link_types: Sequence[str] = LINK_TYPES
    asked_in: uuid.UUID | None = None
    """The agent's own id of the conversation that the answer is for; it narrows nothing."""

    @property
    def is_everything(self) -> bool:
        """Whether every memory is asked for."""
        return self.query.strip() == EVERYTHING

    @property
    def shelves(self) -> list[str]:
        """Return the kinds of memories that can pass the filters."""
        types = SOURCE_TYPES if self.source_types is None else self.source_types
        shelves = {"note" if one in NOTE_TYPES else one for one in types}
        if self.user_id is not None or self.emotion_valence is not None:
            shelves &= {"note"}
        if self.category is not None:
            shelves -= {"episode"}
        return sorted(shelves)

    @property
    def note_types(self) -> list[str] | None:
        """Return the types that a note may have; None: any."""
        if self.source_types is None or set(self.source_types) >= set(NOTE_TYPES):
            return None
        return [one for one in self.source_types if one in NOTE_TYPES]

    def filters(self) -> dict[str, Any]:
        """Return what must hold of a memory, as the statement takes it."""
        return {
            "note_types": self.note_types,
            "source_ids": None if self.source_ids is None else list(self.source_ids),
            "conversation": self.conversation_id,
            "user_id": self.user_id,
            "category": self.category,
            "valence": self.emotion_valence,
            "min_importance": self.min_importance,
            "since": self.since,
            "until": self.until,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """A memory that answers. `at`: when it was so, by which recency goes.

    Ranks are by kind of memory, from 1; None: not found by that leg. `distance` is 1 less
    the cosine, None where meaning did not find it. `depth`: links that lead here from what
    the query found, 0 where the query found it.
    """

    memory_id: uuid.UUID
    kind: MemoryKind
    source_type: str
    relevance: float
    importance: float
    combined: float
    at: datetime
    lexical_rank: int | None
    vector_rank: int | None
    lexical_found: int
    vector_found: int
    distance: float | None
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Hop:
    """A link that was followed, in the direction of the walk."""

    from_id: uuid.UUID
    to_id: uuid.UUID
    link_type: str


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found, in order. `total`: memories that match, returned or not.

    `nodes` are what links led to, also where it did not pass the filters. `degraded` names
    what was missing.
    """

    found: tuple[Finding, ...]
    total: int
    nodes: tuple[Node, ...] = ()
    embedding_model: str = ""
    degraded: str = ""

    @property
    def hops_used(self) -> int:
        """Return after how many steps links led to nothing new."""
        return max((node.depth for node in self.nodes), default=0)

    def hops_to(self, memory_ids: Iterable[uuid.UUID]) -> list[Hop]:
        """Return the links on the way to some memories, each once, the nearest first."""
        by_id = {node.id: node for node in self.nodes}
        wanted: set[uuid.UUID] = set()
        for memory_id in memory_ids:
            node = by_id.get(memory_id)
            while node is not None and node.id not in wanted:
                wanted.add(node.id)
                node = by_id.get(node.via)
        on_the_way = (node for node in self.nodes if node.id in wanted)
        return [Hop(node.via, node.id, node.link_type) for node in on_the_way]


def find(*, tenant: Tenant, request: Request) -> Findings:
    """Return the memories that answer a request, in its order: one embedding, one statement.

    With `max_hops` the links of what was found are followed in a second statement, and a
    third orders all of it together. Where the query cannot be embedded, words alone decide.
    """
    vector, degraded = _embed(request)
    return find_with(tenant=tenant, request=request, vector=vector, degraded=degraded)


def find_with(
    *, tenant: Tenant, request: Request, vector: Vectors | None, degraded: str = ""
) -> Findings:
    """Do the same with a query that is embedded already; None: words alone decide."""
    found, total = _ask(tenant, request, vector, linked={})
    nodes: tuple[Node, ...] = ()
    if request.max_hops and found:
        starts = [one.memory_id for one in found]
        nodes = navigation.walk_from(
            tenant=tenant,
            starts=starts,
            depth=request.max_hops,
            at_most=LINKED_AT_MOST,
            link_types=request.link_types,
        ).nodes
        linked = {node.id: node.depth for node in nodes}
        found, total = _ask(tenant, request, vector, linked=linked)
    return Findings(
        found=tuple(found),
        total=total,
        nodes=nodes,
        embedding_model="" if vector is None else embeddings.get_embedder().name,
        degraded=degraded,
    )


def _embed(request: Request) -> tuple[Vectors | None, str]:
    if request.is_everything:
        return None, ""
    try:
        return embeddings.embed_query(request.query[:CHARACTERS_READ]), ""
    except (ModelUnavailable, ModelMisbehaved):
        return None, "no_vectors"


def _ask(
    tenant: Tenant, request: Request, vector: Vectors | None, *, linked: Mapping[uuid.UUID, int]
) -> tuple[list[Finding], int]:
    """Return what matches, and how much does in all. `linked`: depths of what links lead to."""
    given = {
        **_words_of(request),
        **_meaning_of(vector),
        **request.filters(),
        "tenant": tenant.id,
        "shelves": request.shelves,
        "filtered": any(value is not None for value in request.filters().values()),
        "everything": request.is_everything,
        "neutral": NEUTRAL,
        "linked": list(linked),
        "link_shares": [linked_relevance(depth) for depth in linked.values()],
        "min_relevance": request.min_relevance,
        "sort_by": request.sort_by,
        "at_most": request.max_results,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        # Without statistics of the terms yet, the planner could think of reading everything.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL work_mem = '32MB'")
        cursor.execute(read_find(), given)
        rows = cursor.fetchall()
    found = [_to_finding(row[:-1], linked) for row in rows]
    return found, int(rows[0][-1]) if rows else 0


def _words_of(request: Request) -> dict[str, Any]:
    words = "" if request.is_everything else request.query[:CHARACTERS_READ]
    language = detect_language([words])
    return {
        "words": text.prepare(words),
        "language": STOPPED_BY if language == SIMPLE else language,
        "languages": list(LANGUAGES),
        "words_at_most": WORDS_AT_MOST,
        "frequent": FREQUENT,
        "candidates": CANDIDATES_AT_MOST,
    }


def _meaning_of(vector: Vectors | None) -> dict[str, Any]:
    model = "" if vector is None else embeddings.get_embedder().name
    likeness = likeness_of(model)
    return {
        "vector": None if vector is None else HalfVector(vector).to_text(),
        "model": model,
        "dim": 1 if vector is None else len(vector),
        "unlike": likeness.unlike,
        "like": likeness.like,
        "near_pool": NEAR_POOL,
    }


def _to_finding(row: Sequence[Any], linked: Mapping[uuid.UUID, int]) -> Finding:
    memory_id, kind, source_type, relevance, importance, combined, at, *legs = row
    lexical_rank, vector_rank, lexical_found, vector_found, distance = legs
    is_linked = lexical_rank is None and vector_rank is None
    return Finding(
        memory_id=memory_id,
        kind=MemoryKind(kind),
        source_type=source_type,
        relevance=relevance,
        importance=importance,
        combined=combined,
        at=at,
        lexical_rank=lexical_rank,
        vector_rank=vector_rank,
        lexical_found=lexical_found,
        vector_found=vector_found,
        distance=distance,
        depth=linked.get(memory_id, 0) if is_linked else 0,
    )
