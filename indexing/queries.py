"""Reading the index for those who write it; answering agents is retrieval's business."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from pgvector.django import MaxInnerProduct

from indexing.models import MemoryKind, SearchVector, UnitKind
from memoryproject.tenancy.models import Tenant

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory near a vector: `cosine` is 1.0 for the same direction."""

    memory_id: uuid.UUID
    cosine: float
    vector: Vectors


def nearest_active(
    *,
    tenant: Tenant,
    conversation_id: uuid.UUID,
    shelf: MemoryKind,
    model: str,
    vector: Vectors,
    at_most: int,
) -> list[Neighbour]:
    """Return what is still believed and lies nearest, nearest first.

    Exact. Uses index: indexing_vector_covering.
    """
    distance = MaxInnerProduct("embedding", HalfVector(vector))
    rows = SearchVector.objects.of(tenant).filter(
        conversation_id=conversation_id,
        shelf=shelf,
        model=model,
        dim=len(vector),
        invalid_at=None,
    )
    near = rows.annotate(distance=distance).order_by("distance", "memory_id")[:at_most]
    return [
        Neighbour(
            memory_id=cast(uuid.UUID, row.memory_id),
            cosine=-row.distance,
            vector=_to_array(row.embedding),
        )
        for row in near
    ]


def headline_vectors(
    *, tenant: Tenant, model: str, episode_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, Vectors]:
    """Return the vector of each episode's title and summary; none where it has none yet."""
    rows = SearchVector.objects.of(tenant).filter(
        memory__in=list(episode_ids), model=model, kind=UnitKind.EPISODE
    )
    return {cast(uuid.UUID, row.memory_id): _to_array(row.embedding) for row in rows}


def _to_array(embedding: Sequence[float]) -> Vectors:
    return np.asarray(embedding, dtype=np.float32)
