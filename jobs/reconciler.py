"""Wakes what nobody woke: lost wake-ups, ended leases, silent conversations.

It only makes rows that the partial unique indexes permit, so it may run as often as
wanted, in as many places as wanted; one at a time does the work.
"""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import DurationField, ExpressionWrapper, Max, Q, Value
from django.db.models.functions import Now, Random
from django.utils import timezone

from episodic import queries as episodic
from episodic.models import Conversation
from jobs import claims
from jobs.enqueue import enqueue, wake
from jobs.models import Job, Kind, State
from memoryproject.ai.breaker import BreakerOpen
from memoryproject.ai.errors import ModelUnavailable
from memoryproject.ai.models import Breaker
from memoryproject.tenancy.walls import across_tenants
from retrieval import contexts

AT_MOST = 200
SOON = timedelta(seconds=10)
LEFTOVERS_WAIT = timedelta(hours=2)
"""Episodes below the consolidation threshold wait this long for company."""
CALLED_WITHIN = timedelta(seconds=30)
"""Over which work goes on after an outage, rather than all at once."""
WAITS_FOR_MODEL = (BreakerOpen.__name__, ModelUnavailable.__name__)
LOCK = 0x6D656D6F7279
"""Advisory lock of the one reconciler at work."""


@across_tenants()
def reconcile() -> int:
    """Wake due jobs and queue what time has made due; return how many were woken.

    Deletes contexts that have expired, too.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
            if not cursor.fetchone()[0]:
                return 0
        _queue_due_windows()
        _queue_leftovers()
        _call_back()
        contexts.delete_expired(at_most=AT_MOST)
        return _wake_due_jobs()


@across_tenants()
def due_jobs(*, at_most: int = AT_MOST) -> list[uuid.UUID]:
    """Return ids of jobs that could be claimed now, the longest waiting first."""
    due = Job.across_tenants.filter(claims.is_due()).order_by("run_after", "id")
    return list(due.values_list("id", flat=True)[:at_most])


def _queue_due_windows() -> None:
    for conversation in episodic.conversations_with_due_windows(at_most=AT_MOST):
        enqueue(tenant=conversation.tenant, kind=Kind.SEGMENT, scope=conversation.id)


def _queue_leftovers() -> None:
    before = episodic.database_now() - LEFTOVERS_WAIT
    ids = episodic.conversations_with_stale_episodes(created_before=before, at_most=AT_MOST)
    stale = Conversation.across_tenants.select_related("tenant").filter(id__in=ids)
    for conversation in stale.order_by("id"):
        enqueue(
            tenant=conversation.tenant,
            kind=Kind.CONSOLIDATE,
            scope=conversation.id,
            input={"force": True},
        )


def _call_back() -> None:
    """Let those who wait for a model go on when it is back, and one of them find out.

    They wait long, so that an outage does not keep the workers busy with nothing.
    """
    waiting = Job.across_tenants.filter(state=State.READY, error_class__in=WAITS_FOR_MODEL)
    breakers = Breaker.objects.exclude(open_until=None)
    if not breakers.exists():
        ended = Breaker.objects.aggregate(last=Max("closed_at"))["last"]
        called = Q(error_class=BreakerOpen.__name__)
        if ended is not None:
            called |= Q(error_class=ModelUnavailable.__name__, started_at__lt=ended)
        late = waiting.filter(called, run_after__gt=Now() + CALLED_WITHIN)
        wait = ExpressionWrapper(Value(CALLED_WITHIN) * Random(), output_field=DurationField())
        late.update(run_after=Now() + wait)
    elif breakers.filter(open_until__lte=Now()).exists():
        # Not always the same one: it may be the one whose question the model dies of.
        probe = waiting.filter(run_after__gt=Now()).order_by("transient_failures", "run_after")[:1]
        Job.across_tenants.filter(id__in=probe.values("id")).update(run_after=Now())


def _wake_due_jobs() -> int:
    """Wake each due job that no wake-up waits for: the queue stays as short as the work."""
    ids = due_jobs()
    with connection.cursor() as cursor:
        # One that a worker has taken stays in the table, its lock minutes ahead by that
        # worker's clock, also when he is dead. Ours is the clock of the workers beside us,
        # and they take none whose time has not come by it.
        cursor.execute(
            "SELECT count(*) FROM django_q_ormq WHERE lock <= %s", [timezone.now() + SOON]
        )
        waiting = cursor.fetchone()[0]
    if waiting >= len(ids):
        return 0
    for job_id in ids:
        wake(job_id)
    return len(ids)
