"""Embeds what has no vector yet: notes, and what an outage or a change of the model left.

What can be found lies in the index; what it is made from lies with episodes, messages,
facts and notes, and is read from there anew.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.utils import timezone

from episodic import queries as episodic_queries
from episodic.models import Conversation
from episodic.vectors import headline
from indexing import queries as index_queries
from indexing import services as index
from indexing.models import MemoryKind, SearchUnit, UnitKind
from indexing.services import EVERYTHING
from jobs.claims import Claim, SnapshotMoved, commit
from memoryproject.ai import embeddings
from memoryproject.process.crash_points import Point, pass_point
from memoryproject.tenancy.models import Tenant
from notes import queries as note_queries
from semantic import queries as semantic_queries
from semantic.engines import fact_embedding_text

BATCH = 64
LATE_AT_MOST = timedelta(minutes=5)
"""Between the making of a unit and of the job for its vector, on clocks that differ."""


def embed_batch(claim: Claim) -> bool:
    """Make the vectors of some units; False where there was none left, and the job is done.

    Raises:
        LeaseLost, SnapshotMoved: nothing was written.
        ModelUnavailable, ModelMisbehaved: the model is away still.
    """
    conversation = _find_scope(claim)
    model = embeddings.get_embedder().name
    scope: dict[str, Any] = {
        "tenant": claim.tenant,
        "conversation_id": conversation.id if conversation else None,
    }
    since = None if EVERYTHING in claim.input else timezone.now() - claim.waited - LATE_AT_MOST
    find_units = partial(index_queries.units_without_vector, **scope, model=model, since=since)
    units = find_units(at_most=BATCH)
    if not units:
        with commit(claim):
            if conversation:
                episodic_queries.lock_conversation(**scope)
            index_queries.lock_shelves(**scope)
            if find_units(at_most=1):  # of one who saw this job ready, and made none
                raise SnapshotMoved(str(claim.scope))
            return False
    vectors = embeddings.embed_passages(_texts_of(units, claim.tenant, conversation))
    pass_point(Point.VECTORS_MADE)
    with commit(claim, finish=False):
        index.add_vectors(tenant=claim.tenant, units=units, vectors=vectors, model=model)
        pass_point(Point.VECTORS_WRITTEN)
    return True


def _find_scope(claim: Claim) -> Conversation | None:
    """Return the conversation that the job is for; None: what belongs to the tenant alone."""
    if claim.scope == claim.tenant.id:
        return None
    return episodic_queries.get_conversation(tenant=claim.tenant, conversation_id=claim.scope)


def _texts_of(
    units: Sequence[SearchUnit], tenant: Tenant, conversation: Conversation | None
) -> list[str]:
    """Return what each unit's vector stands for, as when it was first indexed.

    A unit whose note has changed since it was read is gone by then: its text does not matter.
    """
    lines = _lines_of(units, conversation) if conversation else {}
    whole = _whole_texts(units, tenant)
    notes = note_queries.notes_by_id(tenant=tenant, note_ids=_memories(units, MemoryKind.NOTE))
    parts: dict[tuple[uuid.UUID | None, int], str] = {
        (note.id, place): part.meaning
        for note in notes.values()
        for place, part in enumerate(note_queries.passages_of(note))
    }

    def text_of(unit: SearchUnit) -> str:
        if unit.kind == UnitKind.MESSAGE:
            return lines.get(unit.first_seq, "")  # erased in between: the unit is gone, too
        if unit.kind == UnitKind.NOTE:
            return parts.get((unit.memory_id, unit.first_seq or 0), "")
        return whole.get(unit.memory_id, "")

    return [text_of(unit) for unit in units]


def _memories(units: Sequence[SearchUnit], *shelves: MemoryKind) -> set[uuid.UUID]:
    return {unit.memory_id for unit in units if unit.memory_id and unit.shelf in shelves}


def _lines_of(units: Sequence[SearchUnit], conversation: Conversation) -> dict[int | None, str]:
    """Return the lines of messages, by seq."""
    seqs = [unit.first_seq for unit in units if unit.kind == UnitKind.MESSAGE and unit.first_seq]
    messages = episodic_queries.messages_at(
        tenant=conversation.tenant, conversation=conversation, seqs=seqs
    )
    return {line.seq: line.text for line in episodic_queries.to_lines(list(messages.values()))}


def _whole_texts(units: Sequence[SearchUnit], tenant: Tenant) -> dict[uuid.UUID | None, str]:
    """Return what the one vector of an episode's headline, or of a fact, stands for."""
    ids = _memories(units, MemoryKind.EPISODE, MemoryKind.FACT)
    whole: dict[uuid.UUID | None, str] = {
        episode.id: headline(episode)
        for episode in episodic_queries.episodes_with_state(tenant=tenant, episode_ids=ids)
    }
    whole |= {
        fact.id: fact_embedding_text(category=fact.category, fact=fact.fact, keywords=fact.keywords)
        for fact in semantic_queries.facts_by_id(tenant=tenant, fact_ids=ids)
    }
    return whole
