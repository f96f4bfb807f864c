"""Requests an erasure, and previews one."""

from __future__ import annotations

from collections import Counter

from django.conf import settings
from django.db import connection, transaction

from episodic.models import Message
from erasure import flow, imports, persons, retention, tenants
from erasure.holds import check_holds
from erasure.models import Erasure, RetentionPolicy, Scope
from jobs.claims import LIMITS
from jobs.enqueue import wake
from jobs.models import Job, Kind
from jobs.tasks import run_job
from memoryproject.process.crash_points import Point, pass_point
from notes import erasing as notes
from semantic.curation import check_reason

NOTES_WAITED_FOR = 200


def preview(erasure: Erasure) -> dict[str, int]:
    """Return how many rows an unsaved erasure would delete now, by kind.

    It does all of it and takes it back, so the figures are those of the deed; the
    conversation is locked meanwhile. Of a tenant, an import and a policy rows are counted instead.
    """
    if erasure.scope == Scope.TENANT:
        return dict(+tenants.count_tenant(erasure.tenant))
    if erasure.scope == Scope.IMPORT:
        return dict(+imports.count_import(erasure))
    if erasure.scope == Scope.RETENTION:
        policy = RetentionPolicy.objects.of(erasure.tenant).get(id__in=[erasure.target])
        return dict(+retention.count_due(policy))
    erasure.actor, erasure.reason = "nobody", "to see what it would do"
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(LIMITS)
        erasure.save(force_insert=True)
        counts: Counter[str] = Counter()
        while (done := flow.erase_next(erasure.tenant, erasure)) is not None:
            counts += done.counts
            if erasure.scope not in flow.MANY_PARTS:
                break
        transaction.set_rollback(True)
    return dict(+counts)


def ask(erasure: Erasure, *, actor: str, reason: str) -> None:
    """Save an erasure, with the job that will do it if nobody does it before.

    Raises:
        Problem: no reason, or one of more than 2,000 characters.
        Conflict: something of it is on hold.
    """
    erasure.actor, erasure.reason = actor, check_reason(reason)
    check_holds(erasure)
    with transaction.atomic():
        job = Job.objects.create(tenant=erasure.tenant, kind=Kind.ERASE, scope=erasure.id)
        erasure.job_id = job.id
        erasure.save(force_insert=True)
        if is_large(erasure):
            wake(job.id)
    pass_point(Point.ERASURE_ASKED)


def do(erasure: Erasure, *, actor: str, reason: str) -> None:
    """Save an erasure, and do it, or let a worker where it would take long; `state` says which.

    Raises:
        Problem: no reason, or one of more than 2,000 characters.
    """
    ask(erasure, actor=actor, reason=reason)
    if not is_large(erasure):
        run_job(str(erasure.job_id))
        erasure.refresh_from_db()


def is_large(erasure: Erasure) -> bool:
    """Return whether nobody should wait for an erasure."""
    if erasure.scope in {Scope.TENANT, Scope.RETENTION}:
        return True
    if erasure.scope == Scope.PERSON:
        return persons.is_large(erasure)
    if erasure.scope == Scope.IMPORT:
        large: int = settings.ERASURE_WAITS_FOR_MESSAGES
        return imports.count_import(erasure).total() > large
    if erasure.scope == Scope.USER:
        some = notes.notes_of_user(
            tenant=erasure.tenant, user_id=erasure.subject, at_most=NOTES_WAITED_FOR + 1
        )
        return len(some) > NOTES_WAITED_FOR
    if erasure.scope == Scope.CONVERSATION:
        rows = Message.objects.of(erasure.tenant).filter(conversation=erasure.target)
        limit: int = settings.ERASURE_WAITS_FOR_MESSAGES
        return rows.order_by()[: limit + 1].count() > limit
    return False
