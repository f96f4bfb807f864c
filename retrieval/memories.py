"""Episodes, facts and notes in one shape, whole: what is held of them now."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from episodic import queries as episodic_queries
from episodic.models import Episode, Message
from indexing.models import MemoryKind
from memoryproject.tenancy.models import Tenant
from notes import queries as note_queries
from notes.kinds import LINK_TYPES
from notes.models import Note
from retrieval.statement import read_edges
from semantic import queries as semantic_queries
from semantic.models import Fact

FACT_IMPORTANCE = 0.5
A_FURTHER_EPISODE = 0.1
"""What each episode that supports a fact adds to that, beside the first; up to four do."""
NEIGHBOURS_AT_MOST = 50
"""Of each memory, of one type and direction of link."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A memory with its full content. What its kind does not have is empty or None.

    `importance` is 0 to 1: a note's own, an episode's surprise; of a fact 0.5, and more the
    more episodes support it. `at` is when it was so: when a note says, when a fact became
    true, when an episode ended.
    """

    id: uuid.UUID
    kind: MemoryKind
    source_type: str
    """Of a note its own, else the kind."""
    label: str
    content: str
    importance: float
    at: datetime
    created_at: datetime
    source_id: str = ""
    conversation_id: uuid.UUID | None = None
    """The row's, not the agent's."""
    user_id: str = ""
    category: str = ""
    emotion_type: str = ""
    emotion_intensity: float | None = None
    emotion_valence: str = ""
    tags: tuple[str, ...] = ()


def load_held(*, tenant: Tenant, memory_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Whole]:
    """Return those of the memories that are held, by id: five queries, however many.

    Left out are notes that were deleted, facts that are over or were never true, and ids
    that the tenant does not have.
    """
    wanted = list(memory_ids)
    if not wanted:
        return {}
    facts = semantic_queries.active_facts(tenant=tenant, fact_ids=wanted)
    notes = note_queries.notes_by_id(tenant=tenant, note_ids=wanted)
    evidence = semantic_queries.evidence_of(tenant=tenant, fact_ids=facts) if facts else {}
    found = [_of_fact(fact, len(evidence.get(fact.id, ()))) for fact in facts.values()]
    found += [_of_note(note) for note in notes.values()]
    found += _load_episodes(tenant, wanted)
    return {memory.id: memory for memory in found}


def _load_episodes(tenant: Tenant, wanted: Sequence[uuid.UUID]) -> Iterator[Whole]:
    episodes = list(episodic_queries.episodes_with_state(tenant=tenant, episode_ids=wanted))
    if not episodes:
        return
    ids = [episode.id for episode in episodes]
    messages = episodic_queries.messages_of_episodes(tenant=tenant, episode_ids=ids)
    for episode in episodes:
        yield _of_episode(episode, messages[episode.id])


def _of_fact(fact: Fact, episodes: int) -> Whole:
    return Whole(
        id=fact.id,
        kind=MemoryKind.FACT,
        source_type=MemoryKind.FACT.value,
        label=fact.fact,
        content=fact.fact,
        importance=FACT_IMPORTANCE + A_FURTHER_EPISODE * min(max(episodes - 1, 0), 4),
        at=fact.valid_at,
        created_at=fact.created_at,
        conversation_id=fact.conversation_id,
        category=fact.category,
        tags=tuple(fact.keywords),
    )


def _of_note(note: Note) -> Whole:
    return Whole(
        id=note.id,
        kind=MemoryKind.NOTE,
        source_type=note.source_type,
        source_id=note.source_id,
        label=note.label,
        content=note.content,
        importance=note.importance,
        at=note.occurred_at,
        created_at=note.created_at,
        conversation_id=note.conversation_id,
        user_id=note.user_id,
        category=note.category,
        emotion_type=note.emotion_type,
        emotion_intensity=note.emotion_intensity,
        emotion_valence=note.emotion_valence,
        tags=tuple(note.tags),
    )


def _of_episode(episode: Episode, messages: Sequence[Message]) -> Whole:
    lines = [f"{message.name or message.role}: {message.content}" for message in messages]
    return Whole(
        id=episode.id,
        kind=MemoryKind.EPISODE,
        source_type=MemoryKind.EPISODE.value,
        label=episode.title,
        content="\n".join([episode.title, episode.summary, "", *lines]),
        importance=episode.surprise,
        at=episode.end_at,
        created_at=episode.created_at,
        conversation_id=episode.conversation_id,
    )


def neighbours(
    *, tenant: Tenant, memory_ids: Iterable[uuid.UUID]
) -> dict[uuid.UUID, list[uuid.UUID]]:
    """Return the memories that each is linked with directly, both ways, newest first.

    One statement; links that are drawn and links that follow count alike.
    """
    wanted = list(memory_ids)
    found: dict[uuid.UUID, list[uuid.UUID]] = {memory_id: [] for memory_id in wanted}
    given: dict[str, Any] = {
        "tenant": tenant.id,
        "memories": wanted,
        "types": list(LINK_TYPES),
        "fan": NEIGHBOURS_AT_MOST,
    }
    with connection.cursor() as cursor:
        cursor.execute(read_edges("neighbours.sql", once=True), given)
        for memory_id, other in cursor.fetchall():
            found[memory_id].append(other)
    return found
