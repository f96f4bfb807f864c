"""Requests an erasure, and previews one."""

from __future__ import annotations

from collections import Counter

from django.conf import settings
from django.db import connection, transaction

from episodic.models import Message
from erasure import flow, tenants
from erasure.models import Erasure, Scope, State
from erasure.targets import Target
from jobs.enqueue import wake
from jobs.models import Job, Kind
from jobs.tasks import run_job
from memoryproject.edge.errors import Problem
from memoryproject.process.crash_points import Point, pass_point
from memoryproject.tenancy.models import Tenant
from notes import erasing as notes

REASON_AT_MOST = 2_000
NOTES_WAITED_FOR = 200


def preview(*, tenant: Tenant, target: Target) -> dict[str, int]:
    """Return how many rows an erasure would delete now, by kind.

    It does all of it and takes it back, so the figures are those of the deed; the
    conversation is locked meanwhile. Of a tenant the rows are counted instead.
    """
    if target.scope is Scope.TENANT:
        return dict(+tenants.count_tenant(tenant))
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '60s'")
        erasure = _record(tenant, target, actor="nobody", reason="to see what it would do")
        counts: Counter[str] = Counter()
        while (done := flow.erase_next(tenant, erasure)) is not None:
            counts += done.counts
            if target.scope is not Scope.USER:
                break
        transaction.set_rollback(True)
    return dict(+counts)


def ask(*, tenant: Tenant, target: Target, actor: str, reason: str) -> Erasure:
    """Put an erasure on record, with the job that will do it if nobody does it before.

    Raises:
        Problem: no reason, or one of more than 2,000 characters.
    """
    reason_text = reason.strip()
    if not reason_text or len(reason_text) > REASON_AT_MOST or "\x00" in reason_text:
        wrong = f"Say why, in at most {REASON_AT_MOST} characters."
        raise Problem(wrong, fields={"reason": [wrong]})
    with transaction.atomic():
        erasure = _record(tenant, target, actor=actor, reason=reason_text)
        job = Job.objects.create(tenant=tenant, kind=Kind.ERASE, scope=erasure.id)
        erasure.job_id = job.id
        erasure.save(update_fields=["job_id"])
        if is_large(tenant=tenant, target=target):
            wake(job.id)
    pass_point(Point.ERASURE_ASKED)
    return erasure


def do(*, tenant: Tenant, target: Target, actor: str, reason: str) -> Erasure:
    """Erase at once, or let a worker do it where it would take long; `state` says which.

    Raises:
        Problem: no reason, or one of more than 2,000 characters.
    """
    erasure = ask(tenant=tenant, target=target, actor=actor, reason=reason)
    if not is_large(tenant=tenant, target=target):
        assert erasure.job_id is not None
        run_job(str(erasure.job_id))
        erasure.refresh_from_db()
    return erasure


def _record(tenant: Tenant, target: Target, *, actor: str, reason: str) -> Erasure:
    return Erasure.objects.create(
        tenant=tenant,
        scope=target.scope,
        target=target.row_id,
        subject=target.subject,
        actor=actor,
        reason=reason,
        state=State.RUNNING,
    )


def is_large(*, tenant: Tenant, target: Target) -> bool:
    """Return whether nobody should wait for an erasure."""
    if target.scope is Scope.TENANT:
        return True
    if target.scope is Scope.USER:
        some = notes.notes_of_user(
            tenant=tenant, user_id=target.subject, at_most=NOTES_WAITED_FOR + 1
        )
        return len(some) > NOTES_WAITED_FOR
    if target.scope is Scope.CONVERSATION:
        rows = Message.objects.of(tenant).filter(conversation=target.row_id)
        limit: int = settings.ERASURE_WAITS_FOR_MESSAGES
        return rows.order_by()[: limit + 1].count() > limit
    return False
