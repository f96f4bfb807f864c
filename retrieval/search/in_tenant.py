"""Searches a whole tenant: facts, episodes and notes in one order.

By keywords and by meaning, narrowed by filters.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from episodic.queries import database_now
from indexing import text
from indexing.detection import detect_question_language
from indexing.kinds import LINK_TYPES, SourceType
from indexing.languages import LANGUAGES
from indexing.models import MemoryKind
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import DEFANGED
from retrieval.hits import Finding
from retrieval.memory import EPISODIC
from retrieval.search.in_conversation import Meaning
from retrieval.search.scores import NEUTRAL, likeness_of, linked_relevance
from retrieval.statements import fetch_dicts, read_find
from semantic import beliefs

EVERYTHING = "*"
NOTE_TYPES = tuple(kind.value for kind in SourceType)
SOURCE_TYPES = (*NOTE_TYPES, MemoryKind.EPISODE.value, MemoryKind.FACT.value)
ORDERS = ("relevance", "recency", "importance", "combined")
CHARACTERS_READ = 2_000
"""Number of characters of a query that are read; the default model reads no more either."""
WORDS_AT_MOST = 40
FREQUENT = 5_000
"""Largest count of units with a word; more are not counted."""
FEW = 2_000
"""Number of memories that pass the filters below which each vector is looked up."""
NEAR_POOL = 400
"""Number of units of each kind taken from an approximate index."""
FILTERS = (
    "note_types", "source_ids", "conversation_id", "user_ids", "agent_id", "category", "tag",
    "emotion_valence", "min_importance", "since", "until",
)  # fmt: skip
"""Filters of a search, by the parameters of `describing.sql`."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query; all filters must match, None means no filter.

    The source of a fact or an episode is its conversation (the agent's id, as text), with its user
    and agent; without tags and feelings, they never match such a filter. A note that names no user
    has its conversation's. Episodes have one category. `since` and `until` are both included.
    """

    query: str
    source_types: Sequence[str] | None = None
    source_ids: Sequence[str] | None = None
    conversation_id: uuid.UUID | None = None
    """The agent's own id."""
    user_id: str | None = None
    agent_id: str | None = None
    category: str | None = None
    tag: str | None = None
    min_importance: float | None = None
    emotion_valence: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    min_relevance: float = 0.0
    max_results: int = 10
    max_tokens: int | None = None
    """Tokens of everything shown; None: no limit."""
    sort_by: str = "relevance"
    max_hops: int = 0
    link_types: Sequence[str] = LINK_TYPES
    asked_in: uuid.UUID | None = None
    """The agent's id of the conversation that the answer is for; it filters nothing."""
    as_of: datetime | None = None
    """Search what was true then; None: what is active."""
    known_at: datetime | None = None
    """Search what the server believed then."""
    links: str = DEFANGED
    """How texts print links: `defanged` or `plain`."""

    @property
    def is_everything(self) -> bool:
        """Whether every memory is asked for."""
        return self.query.strip() == EVERYTHING

    @property
    def is_past(self) -> bool:
        """Whether another moment than now is asked about."""
        return self.as_of is not None or self.known_at is not None

    @property
    def shelves(self) -> list[str]:
        """Return the kinds of memory that can pass the filters."""
        types = SOURCE_TYPES if self.source_types is None else self.source_types
        shelves = {"note" if source_type in NOTE_TYPES else source_type for source_type in types}
        if any(one is not None for one in (self.tag, self.emotion_valence)):
            shelves &= {"note"}
        if self.category not in (None, EPISODIC):
            shelves -= {"episode"}
        return sorted(shelves)

    @property
    def user_ids(self) -> list[str] | None:
        """Return the users whose memories may pass, by the request and the key; None: any."""
        seen = walls.get_users()
        if self.user_id is None:
            return None if seen is None else list(seen)
        return [self.user_id] if seen is None or self.user_id in seen else []

    @property
    def note_types(self) -> list[str] | None:
        """Return the note types that may pass; None: any."""
        if self.source_types is None or set(self.source_types) >= set(NOTE_TYPES):
            return None
        return [source_type for source_type in self.source_types if source_type in NOTE_TYPES]


def find_with(
    *,
    tenant: Tenant,
    request: SearchRequest,
    meaning: Meaning,
    linked: Mapping[uuid.UUID, int] = {},
) -> tuple[list[Finding], int]:
    """Return the matches of an embedded query, in order, and their total number.

    `linked`: number of links to each memory that links lead to.
    """
    filters = {name: getattr(request, name) for name in FILTERS}
    likeness = likeness_of(meaning.model)
    params = {
        **_words_of(request),
        **meaning.to_parameters(),
        "unlike": likeness.unlike,
        "like": likeness.like,
        "near_pool": NEAR_POOL,
        **filters,
        "tenant": tenant.id,
        "shelves": request.shelves,
        **_moments_of(tenant, request),
        "filtered": request.is_past or any(value is not None for value in filters.values()),
        "few": FEW,
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
        is_routed = getattr(connection, "is_distributed", False)
        cursor.execute(read_find(routed=is_routed), params)
        rows = fetch_dicts(cursor)
    totals = [row.pop("total") for row in rows]
    return [_to_finding(row, linked) for row in rows], totals[0] if rows else 0


def _moments_of(tenant: Tenant, request: SearchRequest) -> dict[str, Any]:
    known: Sequence[uuid.UUID] = ()
    if request.is_past:
        known_at = request.known_at or database_now()
        known = beliefs.facts_believed_at(tenant=tenant, known_at=known_at, as_of=request.as_of)
    return {
        "past": request.is_past,
        "known": list(known),
        "as_of": request.as_of,
        "known_at": request.known_at,
    }


def _words_of(request: SearchRequest) -> dict[str, Any]:
    words = "" if request.is_everything else request.query[:CHARACTERS_READ]
    return {
        "words": text.prepare(words),
        "language": detect_question_language(words),
        "languages": list(LANGUAGES),
        "words_at_most": WORDS_AT_MOST,
        "frequent": FREQUENT,
        "candidates": settings.SEARCH_CANDIDATES_AT_MOST,
    }


def _to_finding(row: dict[str, Any], linked: Mapping[uuid.UUID, int]) -> Finding:
    is_linked = row["lexical_rank"] is None and row["vector_rank"] is None
    depth = linked.get(row["memory_id"], 0) if is_linked else 0
    return Finding(**row | {"shelf": MemoryKind(row["shelf"]), "rank": 0, "depth": depth})
