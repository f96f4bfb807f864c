"""Writing receipts, and handing served episodes to a review."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from psycopg.types.json import Json

from episodic.models import Conversation
from episodic.queries import find_conversation
from jobs.enqueue import wake
from jobs.models import Job, Kind
from memoryproject.tenancy.fields import make_id
from memoryproject.tenancy.models import APIKey, Tenant
from retrieval.models import Retrieval, RetrievalHit
from retrieval.search import Found
from retrieval.statement import read_file

REVIEWABLE = (Retrieval.Kind.RETRIEVE, Retrieval.Kind.RETRIEVE_RAW)
"""Calls whose episodes are judged later by what was made of them."""


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
    latency_ms: int,
) -> Retrieval:
    """Store what was asked and served: one statement, and so all or nothing."""
    reviewable = asked.kind in REVIEWABLE and any(found.shelf == "episode" for found in served)
    retrieval = Retrieval(
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
        latency_ms=latency_ms,
        through_seq=conversation.next_seq - 1 if conversation else 0,
        reviewable=reviewable,
    )
    with connection.cursor() as cursor:
        cursor.execute(
            read_file("write_receipt.sql"), {**_to_row(retrieval), **_to_columns(served)}
        )
    return retrieval


def find_audience(
    *, tenant: Tenant, asked_in: uuid.UUID | None, conversation_id: uuid.UUID | None
) -> Conversation | None:
    """Return where an answer counts as served: what is said of it there is no news."""
    named = asked_in or conversation_id
    return find_conversation(tenant=tenant, external_id=named) if named else None


def _to_row(retrieval: Retrieval) -> dict[str, Any]:
    return {
        "id": retrieval.id,
        "tenant": retrieval.tenant_id,
        "conversation": retrieval.conversation_id,
        "kind": str(retrieval.kind),
        "asked_by": retrieval.asked_by_id,
        "query": retrieval.query,
        "parameters": Json(retrieval.parameters),
        "embedding_model": retrieval.embedding_model,
        "counts": Json(retrieval.counts),
        "degraded": retrieval.degraded,
        "tokens": retrieval.tokens,
        "latency_ms": retrieval.latency_ms,
        "through_seq": retrieval.through_seq,
        "reviewable": retrieval.reviewable,
    }


def _to_columns(served: Sequence[Found]) -> dict[str, list[Any]]:
    """Return the hits as one list a column."""
    return {
        "hits": [make_id() for _ in served],
        "memories": [found.memory_id for found in served],
        "shelves": [found.shelf.value for found in served],
        "ranks": [found.rank for found in served],
        "scores": [found.score for found in served],
        "lexical_ranks": [found.lexical_rank for found in served],
        "vector_ranks": [found.vector_rank for found in served],
    }


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
