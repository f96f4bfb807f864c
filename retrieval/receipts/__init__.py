"""Writes receipts of answers, hands served episodes to a review, counts answers and their pace."""

import json
import time
import uuid
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.db import connection
from rest_framework.utils.encoders import JSONEncoder

from episodic.models import Conversation
from indexing.models import MemoryKind
from jobs.enqueue import wake
from jobs.models import Job, Kind
from memoryproject.database.batches import in_batches
from memoryproject.database.ids import make_id
from memoryproject.tenancy.models import Tenant
from retrieval.hits import Hit
from retrieval.models import Retrieval, RetrievalHit
from retrieval.statements import read_file, run

REVIEWABLE = (Retrieval.Kind.RETRIEVE, Retrieval.Kind.RETRIEVE_RAW)
"""Calls whose episodes are judged later by what was made of them."""
SERVED_AT_MOST = 1_000
"""Further servings of a memory are not counted."""


def write_receipt(*, hits: Sequence[Hit], started: float, **values: Any) -> Retrieval:
    """Store what was asked and served: one statement, and so all or nothing.

    `values` are those of a `Retrieval` that the caller knows. `started` is when the answer was
    begun, by the monotonic clock.
    """
    has_episode = any(hit.shelf is MemoryKind.EPISODE for hit in hits)
    parameters = json.loads(json.dumps(values["parameters"], cls=JSONEncoder))
    retrieval = Retrieval(
        **{"signature": "", **values, "parameters": parameters},
        counts=_count_legs(hits),
        latency_ms=round((time.monotonic() - started) * 1000),
        reviewable=values["kind"] in REVIEWABLE and has_episode,
    )
    conversation = retrieval.conversation
    retrieval.through_seq = conversation.next_seq - 1 if conversation else 0
    row = {
        field.attname: field.get_db_prep_save(getattr(retrieval, field.attname), connection)
        for field in Retrieval._meta.concrete_fields
    }
    with connection.cursor() as cursor:
        run(cursor, read_file("write_receipt.sql"), {**row, "hits": json.dumps(_list_hits(hits))})
    return retrieval


def _list_hits(hits: Sequence[Hit]) -> list[list[Any]]:
    names = attrgetter("shelf", "rank", "score", "lexical_rank", "vector_rank")
    return [[str(make_id()), str(hit.memory_id), *names(hit)] for hit in hits]


def _count_legs(hits: Sequence[Hit]) -> dict[str, dict[str, int]]:
    """Return how many memories each leg found, by shelf; shelves that found none are left out.

    Each hit of the search knows it; what was reached by a link knows of none.
    """
    return {
        hit.shelf.value: {"lexical": hit.lexical_found, "vector": hit.vector_found}
        for hit in sorted(hits, key=lambda hit: (hit.lexical_found, hit.vector_found))
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


def last_answers_under_review(*, tenant: Tenant, job_id: uuid.UUID) -> dict[uuid.UUID, Retrieval]:
    """Return by episode the last answer that served it, of those that a review job judges."""
    hits = RetrievalHit.objects.of(tenant).filter(
        retrieval__review_job=job_id, memory_kind=MemoryKind.EPISODE
    )
    newest_last = hits.select_related("retrieval").order_by("retrieval_id", "rank")
    return {hit.memory_id: hit.retrieval for hit in newest_last}


def find_receipts(
    tenant: Tenant, memory_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, list[uuid.UUID]]:
    """Return the answers that served memories, by memory, the newest first.

    Uses index: retrieval_hit_by_memory.
    """
    receipts: dict[uuid.UUID, list[uuid.UUID]] = defaultdict(list)
    for some in in_batches(memory_ids):
        hits = RetrievalHit.objects.of(tenant).filter(memory_id__in=some).order_by("-retrieval_id")
        for memory_id, retrieval_id in hits.values_list("memory_id", "retrieval_id"):
            receipts[memory_id].append(retrieval_id)
    return receipts


@dataclass(frozen=True, slots=True)
class Pace:
    """Answers of one span of time, and the time that half and 95 % of them kept to.

    The times are None where no answer was measured.
    """

    answers: int
    p50_ms: int | None
    p95_ms: int | None


def measure_pace(
    tenant: Tenant, *, spans: Sequence[tuple[datetime, datetime]], at_most: int
) -> list[Pace]:
    """Return the pace of each span, its end excluded, by its newest `at_most` answers."""
    params: dict[str, Any] = {
        "tenant": tenant.id,
        "starts": [start for start, _ in spans],
        "ends": [end for _, end in spans],
        "at_most": at_most,
    }
    with connection.cursor() as cursor:
        cursor.execute(read_file("pace.sql"), params)
        return [Pace(*row[1:]) for row in cursor.fetchall()]


def count_served(tenant: Tenant, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, tuple[int, int]]:
    """Return how often memories were served, and in how many conversations, each up to a cap."""
    params: dict[str, Any] = {"tenant": tenant.id, "ids": list(ids), "at_most": SERVED_AT_MOST}
    with connection.cursor() as cursor:
        cursor.execute(read_file("served.sql"), params)
        return {row_id: (times, places) for row_id, times, places in cursor.fetchall()}
