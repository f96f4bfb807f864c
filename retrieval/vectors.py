"""Embeds what has no vector yet: notes, and what an outage or a change of the model left.

What can be found lies in the index; what it is made from lies with episodes, messages,
facts and notes, and is read from there anew.
"""

import random
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from episodic import queries as episodic_queries
from episodic.episode_index import headline
from indexing import queries as index_queries
from indexing import services as index
from indexing.model_change import EVERYTHING
from indexing.models import SearchUnit, UnitKind
from jobs.claims import Claim, SnapshotMoved, commit, hand_back_if_late
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Embedder
from memoryproject.process.crash_points import Point, pass_point
from memoryproject.tenancy.models import Tenant
from memoryproject.wings import list_wings
from semantic import queries as semantic_queries
from semantic.engines import fact_embedding_text

BATCH = 64
LATE_AT_MOST = timedelta(minutes=5)
"""Time from a unit to the job that makes its vector, by clocks that differ."""


def make_vectors(claim: Claim) -> None:
    """Make what vectors are missing, a batch at a time; after a while hand back.

    A job for EVERYTHING looks through all conversations, in any order, so that one that fails
    stops no other.

    Raises:
        LeaseLost, SnapshotMoved: nothing was written.
        ModelUnavailable, ModelMisbehaved: the model is away still.
    """
    own = None if claim.scope == claim.tenant.id else claim.scope
    since = None if EVERYTHING in claim.input else timezone.now() - claim.waited - LATE_AT_MOST
    for scope in [own, *_find_others(claim)]:
        while _make_batch(claim, scope, since=since):
            if hand_back_if_late(claim):
                return
    with commit(claim):
        if own:
            episodic_queries.lock_conversation(tenant=claim.tenant, conversation_id=own)
        index_queries.lock_shelves(tenant=claim.tenant, conversation_id=own)
        if _find_missing(claim, own, since=since):  # of one who saw this job ready, and made none
            raise SnapshotMoved(str(claim.scope))


def _find_others(claim: Claim) -> list[uuid.UUID]:
    """Return the conversations that a job for EVERYTHING looks through."""
    if EVERYTHING not in claim.input:
        return []
    lacking = {
        scope
        for embedder in embeddings.get_embedders()
        for scope in index_queries.conversations_without_vectors(
            tenant=claim.tenant, model=embedder.name
        )
        if scope is not None
    }
    return random.sample(sorted(lacking), len(lacking))


def _find_missing(
    claim: Claim, scope: uuid.UUID | None, *, since: datetime | None
) -> tuple[Embedder, list[SearchUnit]] | None:
    """Return units of a scope without vectors, and the embedder that lacks them."""
    for embedder in embeddings.get_embedders():
        units = index_queries.units_without_vector(
            tenant=claim.tenant,
            conversation_id=scope,
            model=embedder.name,
            at_most=BATCH,
            since=since,
        )
        if units:
            return embedder, units
    return None


def _make_batch(claim: Claim, scope: uuid.UUID | None, *, since: datetime | None) -> bool:
    """Make the vectors of some units; return whether there were any."""
    missing = _find_missing(claim, scope, since=since)
    if missing is None:
        return False
    embedder, units = missing
    texts = _texts_of(units, claim.tenant, scope)
    vectors = embeddings.embed_passages(texts, embedder=embedder)
    kept = embeddings.keep_states(texts, embedder=embedder)
    states = [
        packed if unit.kind == UnitKind.MESSAGE else None
        for unit, packed in zip(units, kept, strict=True)
    ]
    pass_point(Point.VECTORS_MADE)
    with commit(claim, finish=False):
        index.add_vectors(
            tenant=claim.tenant, units=units, vectors=vectors, states=states, model=embedder.name
        )
        pass_point(Point.VECTORS_WRITTEN)
    return True


def _texts_of(
    units: Sequence[SearchUnit], tenant: Tenant, conversation_id: uuid.UUID | None
) -> list[str]:
    """Return what each unit's vector stands for, as when it was first indexed.

    If a unit's text was changed or erased since, the unit is gone, too: what is made of it
    does not matter.
    """
    texts: dict[object, str] = {}
    if conversation_id:
        conversation = episodic_queries.get_conversation(tenant, conversation_id)
        seqs = [
            unit.first_seq for unit in units if unit.kind == UnitKind.MESSAGE and unit.first_seq
        ]
        messages = episodic_queries.messages_at(conversation, seqs).values()
        texts |= {line.seq: line.text for line in episodic_queries.to_lines(list(messages))}
    ids = {unit.memory_id for unit in units if unit.memory_id}
    for episode in episodic_queries.episodes_with_state(tenant=tenant, episode_ids=ids):
        texts[episode.id] = headline(episode)
    for fact in semantic_queries.facts_by_id(tenant=tenant, fact_ids=ids):
        texts[fact.id] = fact_embedding_text(
            category=fact.category, fact=fact.fact, keywords=fact.keywords
        )
    for wing in list_wings():
        texts |= wing.list_passages(tenant, ids)
    return [texts.get(_key_of(unit), "") for unit in units]


def _key_of(unit: SearchUnit) -> object:
    """Return the key of a unit's text: a message's seq, a note's id and part, or the id."""
    if unit.kind == UnitKind.MESSAGE:
        return unit.first_seq
    if unit.kind == UnitKind.NOTE:
        return unit.memory_id, unit.first_seq or 0
    return unit.memory_id
