"""The job that delivers a webhook's events, and chores that run by time.

If an event fails, its conversation's events wait for the retry, and others continue. After three
failures in a row the receiver counts as away, and the job waits, longer each time.
"""

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now, TruncDay

from jobs import claims, spending
from jobs.claims import Claim, OutsideAway
from jobs.enqueue import enqueue
from jobs.models import Job, Kind, LLMCall
from jobs.models import State as JobState
from jobs.spending import BudgetSpent
from jobs.tasks import backoff
from memoryproject.database.batches import delete_some
from memoryproject.database.clock import read_database_clock
from memoryproject.tenancy.models import Tenant
from memoryproject.wings import EventType
from wings.events import sending, types
from wings.events.models import Event, Notification, Webhook
from wings.events.outbox import NewEvent, announce

IN_A_ROW = 3
"""Number of failed attempts in a row after which a receiver counts as away."""
GIVEN_UP_AFTER = timedelta(days=1)
"""Time in the queue after which a failing event is dead; it can be delivered again by hand."""
KEPT = timedelta(days=30)
"""Time for which finished deliveries stay in the log."""
NEAR = Decimal("0.8")
"""Share of a day's budget from which on a warning is sent."""
RECENT = timedelta(minutes=5)
"""Age of a tenant's last model call up to which its budget is checked."""
State = Event.State


class ReceiverAway(OutsideAway):
    """A webhook does not answer, or refuses everything."""


def deliver(claim: Claim) -> None:
    """Deliver due events for some seconds, then give the job back; raise ReceiverAway."""
    counts: Counter[str] = Counter()
    webhook = Webhook.objects.of(claim.tenant).filter(id=claim.scope, stopped_at=None).first()
    if webhook is not None:
        failed_in_a_row = 0
        with sending.sending_to(webhook.url) as sender:
            while event := find_due(webhook):
                now = read_database_clock()
                outcome = sending.send(sender, webhook, event, now=now)
                counts["delivered" if outcome.is_delivered else "failed"] += 1
                note(event, outcome)
                if outcome.status == sending.GONE:
                    Webhook.objects.of(claim.tenant).filter(id=webhook.id).update(stopped_at=now)
                    break
                failed_in_a_row = 0 if outcome.is_delivered else failed_in_a_row + 1
                if failed_in_a_row == IN_A_ROW:
                    raise ReceiverAway(str(webhook.id))
                if claims.hand_back_if_late(claim):
                    return
    with claims.commit(claim, result=dict(counts)):
        pass


def find_due(webhook: Webhook) -> Event | None:
    """Return the next event to deliver: the first of a scope without a waiting retry.

    Uses index: events_event_pending.
    """
    pending = Event.objects.of(webhook.tenant).filter(webhook=webhook, state=State.PENDING)
    waiting = pending.filter(retry_at__gt=Now()).values("scope")
    due = pending.filter(retry_at__lte=Now()).exclude(scope__in=waiting)
    return due.order_by("created_at", "id").first()


def note(event: Event, outcome: sending.Outcome) -> None:
    """Record the result of an attempt, unless the event was requested again meanwhile."""
    rows = Event.objects.of(event.tenant).filter(
        id=event.id, state=State.PENDING, queued_at=event.queued_at
    )
    columns = {"status": outcome.status, "latency_ms": outcome.latency_ms}
    if outcome.is_delivered:
        rows.update(state=State.DELIVERED, delivered_at=Now(), error_class="", **columns)
        return
    is_late = event.queued_at < read_database_clock() - GIVEN_UP_AFTER
    rows.update(
        attempts=F("attempts") + 1,
        retry_at=Now() + backoff(event.attempts + 1),
        error_class=outcome.error,
        state=State.DEAD if is_late else State.PENDING,
        **columns,
    )


def queue_retries(*, at_most: int) -> None:
    """Queue a job for each webhook with due events and no job.

    Uses index: events_event_due.
    """
    due = Event.across_tenants.filter(
        tenant=OuterRef("tenant"), webhook=OuterRef("pk"), state=State.PENDING, retry_at__lte=Now()
    )
    known = [JobState.READY, JobState.RUNNING, JobState.DEAD]
    jobs = Job.across_tenants.filter(kind=Kind.DELIVER, state__in=known)
    busy = list(jobs.order_by().values_list("scope", flat=True))  # jobs may lie on another node
    rows = Webhook.across_tenants.filter(Exists(due), stopped_at=None).exclude(id__in=busy)
    for webhook in rows.select_related("tenant").order_by("id")[:at_most]:
        enqueue(tenant=webhook.tenant, kind=Kind.DELIVER, scope=webhook.id)


def announce_spent_budgets(*, at_most: int) -> None:
    """Tell each webhook once a day (UTC) that its tenant's work is paused by budget."""
    parked = Job.across_tenants.filter(state=JobState.READY, error_class=BudgetSpent.__name__)
    whose = list(parked.order_by().values_list("tenant", flat=True).distinct())
    told = _told_today(types.BUDGET_SPENT, tenant=OuterRef("tenant"), webhook=OuterRef("pk"))
    rows = Webhook.across_tenants.filter(~told, tenant__in=whose, stopped_at=None)
    for webhook in rows.select_related("tenant").order_by("id")[:at_most]:
        event = NewEvent(types.BUDGET_SPENT, {"day": f"{read_database_clock():%Y-%m-%d}"})
        announce([event], tenant=webhook.tenant, scope=webhook.tenant_id, webhooks=[webhook])


def _told_today(type: EventType, **whose: Any) -> Exists:
    """Return the condition that an event of today (UTC) says so already."""
    rows = Event.across_tenants.filter(type=type.code, created_at__gte=TruncDay(Now()), **whose)
    return Exists(rows)


def announce_near_budgets(*, at_most: int) -> None:
    """Announce once a day (UTC) each tenant that has used 80 % of its budget.

    Uses index: jobs_llmcall_by_time.
    """
    if settings.LLM == "offline":
        return
    calls = LLMCall.across_tenants.filter(tenant=OuterRef("pk"), created_at__gt=Now() - RECENT)
    told = _told_today(types.BUDGET_NEAR, tenant=OuterRef("pk"), webhook=None)
    tenants = Tenant.objects.filter(Exists(calls), ~told)
    if settings.DAILY_BUDGET is None:
        tenants = tenants.filter(settings__has_key=spending.SETTING)
    now = read_database_clock()
    for tenant in tenants.order_by("id")[:at_most]:
        budget = spending.find_budget(tenant)
        spent = spending.find_spent(tenant, since=spending.start_of_day(now))
        if budget is not None and spent >= NEAR * budget:
            event = NewEvent(types.BUDGET_NEAR, {"day": f"{now:%Y-%m-%d}"})
            announce([event], tenant=tenant, scope=tenant.id)


def announce_death(claim: Claim) -> None:
    event = NewEvent(types.JOB_DEAD, {"job_id": str(claim.id), "kind": claim.kind})
    announce([event], tenant=claim.tenant, scope=claim.tenant.id)


def delete_old(*, at_most: int) -> None:
    """Delete some events and notifications that ended long ago.

    Uses index: events_event_over, events_notification_by_time.
    """
    over = Event.across_tenants.exclude(state=State.PENDING)
    for rows in (over, Notification.across_tenants.all()):
        old = rows.filter(created_at__lt=Now() - KEPT)
        delete_some(old.order_by("created_at"), at_most=at_most)
