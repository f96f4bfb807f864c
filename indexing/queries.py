"""Reads the index for code that writes it; answering agents is the task of retrieval."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import numpy as np
from django.db.models import Exists, OuterRef, Q, QuerySet
from pgvector.django import MaxInnerProduct

from indexing.models import MemoryKind, SearchUnit, SearchVector, ShelfSize, UnitKind
from indexing.owners import owners_of_several, within
from memoryproject.ai.embeddings import Embedder, Vectors, has_states
from memoryproject.database.clock import execute, read_sql
from memoryproject.database.ids import first_id_at
from memoryproject.database.vectors import HalfVector
from memoryproject.tenancy.models import Tenant


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory near a vector: `cosine` is 1.0 for the same direction."""

    memory_id: uuid.UUID
    cosine: float


def nearest(
    *, tenant: Tenant, vector: Vectors, model: str, at_most: int, **where: Any
) -> list[Neighbour]:
    """Return the memories nearest to a vector, nearest first; `where` filters them.

    Exact. Uses index: indexing_vector_of_owner, for what is active in one conversation.
    """
    rows = _vectors_of(tenant, model, **where).filter(dim=len(vector))
    distance = MaxInnerProduct("embedding", HalfVector(vector))
    near = rows.annotate(distance=distance).order_by("distance", "memory_id")
    found = near.values_list("memory_id", "distance")[:at_most]
    return [Neighbour(memory_id=memory_id, cosine=-distance) for memory_id, distance in found]


def nearest_to_each(
    vectors: Vectors,
    *,
    tenant: Tenant,
    conversation_ids: Sequence[uuid.UUID],
    model: str,
    cosine_at_least: float,
    at_most: int,
) -> list[list[Neighbour]]:
    """Return, for each vector, the nearest active facts of conversations, nearest first.

    See `sql/nearest_to_each.sql`.
    """
    near: list[list[Neighbour]] = [[] for _ in vectors]
    if not len(vectors):
        return near
    params = _facts_in(tenant, conversation_ids, model) | {
        "dim": vectors.shape[1],
        "vectors": [HalfVector(vector).to_text() for vector in vectors],
        "distance": -cosine_at_least,
        "at_most": at_most,
    }
    for position, *neighbour in execute(read_sql(__file__, "nearest_to_each.sql"), params):
        near[position - 1].append(Neighbour(*neighbour))
    return near


def nearest_units(
    *, tenant: Tenant, vector: Vectors, model: str, at_most: int, **where: Any
) -> list[tuple[SearchUnit, float]]:
    """Return the units nearest to a vector with their cosine, nearest first.

    Exact; `where` filters them by columns of `Searchable`.
    """
    rows = _vectors_of(tenant, model, **where).filter(dim=len(vector))
    near = rows.annotate(distance=MaxInnerProduct("embedding", HalfVector(vector)))
    pairs = list(near.order_by("distance", "id").values_list("unit_id", "distance")[:at_most])
    units = SearchUnit.objects.of(tenant).in_bulk([unit_id for unit_id, _ in pairs])
    return [(units[unit_id], -distance) for unit_id, distance in pairs if unit_id in units]


def nearest_to_any(
    memory_ids: Sequence[uuid.UUID],
    *,
    tenant: Tenant,
    conversation_ids: Sequence[uuid.UUID],
    embedder: Embedder,
    at_most: int,
) -> list[uuid.UUID]:
    """Return the active facts of conversations nearest to any unit of some memories.

    The nearest comes first.

    See `sql/nearest_to_any.sql`.
    """
    params = _facts_in(tenant, conversation_ids, embedder.name)
    params |= {"dim": embedder.dim, "memories": list(memory_ids), "at_most": at_most}
    rows = execute(read_sql(__file__, "nearest_to_any.sql"), params)
    return [memory_id for memory_id, _ in rows]


def _facts_in(tenant: Tenant, conversation_ids: Sequence[uuid.UUID], model: str) -> dict[str, Any]:
    """Return the parameters with which statements select the facts of conversations."""
    ids = list(conversation_ids)
    owners = owners_of_several(tenant=tenant, conversation_ids=ids)
    home = {"tenant": tenant.id, "owners": owners, "conversations": ids}
    return {**home, "shelf": MemoryKind.FACT, "model": model}


def _vectors_of(
    tenant: Tenant, model: str, conversation: uuid.UUID | None = None, **where: Any
) -> QuerySet[SearchVector]:
    rows = SearchVector.objects.of(tenant).filter(model=model, **where)
    return within(rows, tenant=tenant, conversation_id=conversation) if conversation else rows


def find_vector(*, tenant: Tenant, memory_id: uuid.UUID, model: str) -> Vectors | None:
    """Return the vector of a memory with one unit; None: the model has made none yet."""
    row = _vectors_of(tenant, model).filter(memory=memory_id).first()
    return None if row is None else _to_array(row.embedding)


def headline_vectors(
    *, tenant: Tenant, episode_ids: Sequence[uuid.UUID], model: str
) -> dict[uuid.UUID, Vectors]:
    """Return the vector of each episode's title and summary; missing if there is none yet."""
    rows = _vectors_of(tenant, model).filter(memory__in=list(episode_ids), kind=UnitKind.EPISODE)
    return {cast(uuid.UUID, row.memory_id): _to_array(row.embedding) for row in rows}


def _to_array(embedding: Sequence[float]) -> Vectors:
    return np.asarray(embedding, dtype=np.float32)


def units_without_vector(
    *,
    tenant: Tenant,
    conversation_id: uuid.UUID | None,
    model: str,
    at_most: int,
    since: datetime | None = None,
) -> list[SearchUnit]:
    """Return units of a conversation without this model's vectors, latest first.

    Without a conversation: units that belong to none; with `since`: units made from then on. If a
    text has several units, the first one stands for all.
    """
    lacking = _lacking(tenant=tenant, model=model)
    if conversation_id is None:
        lacking = lacking.filter(conversation=None)
    else:
        lacking = within(lacking, tenant=tenant, conversation_id=conversation_id)
    if since is not None:
        lacking = lacking.filter(id__gte=first_id_at(since))
    return list(lacking.order_by("-valid_at", "-id")[:at_most])


def lock_shelves(*, tenant: Tenant, conversation_id: uuid.UUID | None) -> None:
    """Wait for all who are adding units to a conversation, or to none, and keep others waiting.

    The trigger that maintains `ShelfSize` locks its rows until the units are committed.
    """
    sizes = ShelfSize.objects.of(tenant).filter(conversation=conversation_id)
    list(sizes.select_for_update().order_by("id").values_list("id"))


def _lacking(*, tenant: Tenant, model: str) -> QuerySet[SearchUnit]:
    own_vectors = SearchVector.objects.of(tenant).filter(unit=OuterRef("id"), model=model)
    if has_states(model):
        own_vectors = own_vectors.exclude(kind=UnitKind.MESSAGE, states=None)
    earlier = SearchUnit.objects.of(tenant).filter(
        Q(first_seq=OuterRef("first_seq")) | Q(first_seq=None),
        Q(conversation=OuterRef("conversation")) | Q(conversation=None),
        memory=OuterRef("memory"),
        kind=OuterRef("kind"),
        id__lt=OuterRef("id"),
    )
    return SearchUnit.objects.of(tenant).filter(~Exists(own_vectors), ~Exists(earlier))


def conversations_without_vectors(*, tenant: Tenant, model: str) -> list[uuid.UUID | None]:
    """Return the conversations with missing vectors of a model.

    None, always last, stands for memories without a conversation.
    """
    ids = _lacking(tenant=tenant, model=model).values_list("conversation_id", flat=True)
    return list(ids.order_by("conversation_id").distinct())
