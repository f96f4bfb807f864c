"""Writing receipts, and handing served episodes to a review."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from episodic.models import Conversation
from jobs.enqueue import wake
from jobs.models import Job, Kind
from memoryproject.tenancy.fields import make_id
from memoryproject.tenancy.models import APIKey, Tenant
from retrieval.models import Retrieval, RetrievalHit
from retrieval.search import Found


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asked what: the part of a receipt that is known before the answer."""

    tenant: Tenant
    asked_by: APIKey | None
    kind: Retrieval.Kind
    query: str
    parameters: dict[str, Any]


def write_receipt(
    *,
    asked: Asked,
    conversation: Conversation | None,
    served: Sequence[Found],
    embedding_model: str,
    degraded: str,
    tokens: int,
) -> Retrieval:
    """Store what was asked and served: two inserts, however many hits."""
    reviewable = asked.kind is not Retrieval.Kind.CONTEXT and any(
        found.shelf == "episode" for found in served
    )
    with transaction.atomic():
        retrieval = Retrieval.objects.create(
            tenant=asked.tenant,
            conversation=conversation,
            kind=asked.kind,
            asked_by=asked.asked_by,
            query=asked.query,
            parameters=asked.parameters,
            embedding_model=embedding_model,
            counts=count_legs(served),
            degraded=degraded,
            tokens=tokens,
            through_seq=conversation.next_seq - 1 if conversation else 0,
            reviewable=reviewable,
        )
        RetrievalHit.objects.bulk_create(
            [
                RetrievalHit(
                    tenant=asked.tenant,
                    retrieval=retrieval,
                    memory_id=found.memory_id,
                    memory_kind=found.shelf,
                    rank=found.rank,
                    score=found.score,
                    lexical_rank=found.lexical_rank,
                    vector_rank=found.vector_rank,
                )
                for found in served
            ]
        )
    return retrieval


def count_legs(served: Sequence[Found]) -> dict[str, dict[str, int]]:
    """Return how many memories each leg found, by shelf; shelves that found none are left out."""
    return {
        found.shelf.value: {"lexical": found.lexical_found, "vector": found.vector_found}
        for found in served
    }


def take_pending_reviews(conversation: Conversation) -> None:
    """Hand every reviewable answer of the conversation to one new review job.

    Called inside a segmentation's commit, under the conversation's lock.
    """
    job_id = make_id()
    pending = Retrieval.objects.of(conversation.tenant).filter(
        conversation=conversation, reviewable=True, review_job=None
    )
    if not pending.exists():
        return
    Job.objects.create(
        id=job_id,
        tenant=conversation.tenant,
        kind=Kind.REVIEW,
        scope=job_id,
        input={"conversation": str(conversation.id)},
    )
    pending.update(review_job_id=job_id)
    wake(job_id)


def retrievals_under_review(*, tenant: Tenant, job_id: uuid.UUID) -> list[Retrieval]:
    """Return the answers that a review job judges, oldest first."""
    taken = Retrieval.objects.of(tenant).filter(review_job_id=job_id)
    return list(taken.order_by("created_at", "id"))


def served_episode_ids(
    *, tenant: Tenant, retrievals: Sequence[Retrieval]
) -> list[tuple[uuid.UUID, uuid.UUID]]:
    """Return pairs (retrieval, episode) in order of serving, best first."""
    hits = RetrievalHit.objects.of(tenant).filter(
        retrieval__in=[retrieval.id for retrieval in retrievals], memory_kind="episode"
    )
    return list(hits.order_by("retrieval_id", "rank").values_list("retrieval_id", "memory_id"))
