"""Erases models' answers, and cancels runs that have read erased text."""

import uuid
from collections.abc import Sequence

from django.db.models import CharField, Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat, Now

from jobs import claims
from jobs.calls import LET_GO
from jobs.models import Job, Kind, LLMCall, State
from memoryproject.tenancy.models import Tenant


def take_back(*, tenant: Tenant, conversation_ids: Sequence[uuid.UUID]) -> None:
    """Cancel the runs that may have read some conversations: they write nothing, and start again.

    Their answers are not stored, see `calls`. Called after all other locks, as with the job's row
    in `claims.commit`.
    """
    running = _jobs_of(tenant, conversation_ids).filter(state=State.RUNNING)
    for job in running.select_for_update().order_by("id"):
        claims.hand_back(job)


def _jobs_of(tenant: Tenant, conversation_ids: Sequence[uuid.UUID]) -> QuerySet[Job]:
    of_review = Q(kind=Kind.REVIEW, input__conversation__in=list(map(str, conversation_ids)))
    return Job.objects.of(tenant).filter(Q(scope__in=conversation_ids) | of_review)


def erase_answers(*, tenant: Tenant, conversation_ids: Sequence[uuid.UUID]) -> int:
    """Erase the models' answers to jobs of some conversations; return how many.

    Costs stay on record. Calls whose job is unknown may have been about anything: their answers are
    erased, too.
    """
    jobs = _jobs_of(tenant, conversation_ids).values("id")
    known = Job.objects.of(tenant).filter(id=OuterRef("job"))
    calls = LLMCall.objects.of(tenant).filter(Q(job__in=jobs) | ~Exists(known))
    answers = calls.filter(response__isnull=False).count()
    named = Concat(Value(LET_GO), Cast(F("id"), CharField()))
    calls.filter(~Q(request_sha256__startswith=LET_GO)).update(response=None, request_sha256=named)
    return answers


def erase_jobs_of(*, tenant: Tenant, conversation_id: uuid.UUID) -> None:
    """Delete the jobs of a deleted conversation; a running one can write nothing any more."""
    erase_answers(tenant=tenant, conversation_ids=[conversation_id])
    _jobs_of(tenant, [conversation_id]).delete()


def stop_all(*, tenant: Tenant, but: uuid.UUID) -> None:
    """Cancel all jobs of a tenant but one; running ones can write nothing any more."""
    open_jobs = Job.objects.of(tenant).filter(state__in=[State.READY, State.RUNNING])
    open_jobs.exclude(id=but).update(state=State.CANCELLED, finished_at=Now(), **claims.RELEASED)
