"""The flow that makes missing vectors: after an outage, and after a change of the model.

What can be found lies in the index; what it is made from lies with episodes, messages
and facts, and is read from there anew.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import cast

from episodic import queries as episodic_queries
from episodic.headlines import headline
from episodic.models import Conversation
from indexing import queries as index_queries
from indexing import services as index
from indexing.models import SearchUnit, UnitKind
from jobs.claims import Claim, commit
from memoryproject.ai import embeddings
from memoryproject.crash_points import Point, pass_point
from semantic import queries as semantic_queries
from semantic.engines import fact_embedding_text

BATCH = 64


def embed_batch(claim: Claim) -> bool:
    """Make the vectors of some units; False where there was none left, and the job is done.

    Raises:
        LeaseLost: nothing was written.
        ModelUnavailable, ModelMisbehaved: the model is away still.
    """
    conversation = episodic_queries.get_conversation(
        tenant=claim.tenant, conversation_id=claim.scope
    )
    model = embeddings.get_embedder().name
    units = index_queries.units_without_vector(
        tenant=claim.tenant, conversation_id=conversation.id, model=model, at_most=BATCH
    )
    if not units:
        with commit(claim):
            return False
    vectors = embeddings.embed_passages(_texts_of(units, conversation))
    pass_point(Point.VECTORS_MADE)
    with commit(claim, finish=False):
        index.add_vectors(units=units, vectors=vectors, model=model)
        pass_point(Point.VECTORS_WRITTEN)
    return True


def _texts_of(units: Sequence[SearchUnit], conversation: Conversation) -> list[str]:
    """Return what each unit's vector stands for, as when it was first indexed."""
    tenant = conversation.tenant
    ids = [unit.memory_id for unit in units if unit.memory_id]
    whole = {
        episode.id: headline(title=episode.title, summary=episode.summary)
        for episode in episodic_queries.episodes_with_state(tenant=tenant, episode_ids=ids)
    }
    whole |= {
        fact.id: fact_embedding_text(category=fact.category, fact=fact.fact, keywords=fact.keywords)
        for fact in semantic_queries.facts_by_id(tenant=tenant, fact_ids=ids)
    }
    seqs = [unit.first_seq for unit in units if unit.first_seq is not None]
    messages = episodic_queries.messages_at(tenant=tenant, conversation=conversation, seqs=seqs)
    lines = {line.seq: line.text for line in episodic_queries.to_lines(list(messages.values()))}
    return [
        lines[unit.first_seq]
        if unit.kind == UnitKind.MESSAGE and unit.first_seq is not None
        else whole[cast(uuid.UUID, unit.memory_id)]
        for unit in units
    ]
