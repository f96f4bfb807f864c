"""Turns events into notifications of people, with text and page."""

from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.models import Permission, User
from django.db.models import IntegerField, Q, QuerySet, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Now
from django.urls import reverse

from memoryproject.tenancy.models import Membership, Tenant
from semantic.models import Changeset
from wings.events.models import Event, EventType, Notification

CHANGESET, TEST = "admin:semantic_changeset_change", "admin:retrieval_memorytest_change"
JOB, CURATES, READS = "admin:jobs_job_change", "semantic.curate_fact", "semantic.view_fact"
QUEUE = "console:review_queue"
BURST = 50
"""Number of facts retired in a tenant within an hour that causes a notification."""
BURST_WITHIN = timedelta(hours=1)


class Notice(NamedTuple):
    """The notification for an event type; people with the permission get it."""

    words: str
    permission: str
    page: str
    """Page of the admin; its address ends in the subject's id, except for the queue."""
    subject: str
    """Key in an event's data with the id of the page's subject; if empty, the tenant."""


NOTICES = {
    EventType.JOB_DEAD: Notice("A job is dead", "jobs.operate_job", JOB, "job_id"),
    EventType.BUDGET_NEAR: Notice(
        "80 % of the day's budget is spent", "tenancy.set_budget", "console:budget", ""
    ),
    EventType.FACT_RETIRED: Notice(
        "Many facts were retired within an hour", CURATES, CHANGESET, "changeset_id"
    ),
    EventType.TEST_FAILED: Notice("A memory test fails", CURATES, TEST, "test_id"),
    EventType.RULE_STOPPED: Notice("A rule stopped deciding by itself", CURATES, QUEUE, ""),
    EventType.FACT_CORRECTED: Notice(
        "A fact was retired after it was served", READS, CHANGESET, "changeset_id"
    ),
}


def render_words(type: str, count: int) -> str:
    words = NOTICES[EventType(type)].words
    return words if count == 1 else f"{words} (×{count})"


def find_address(type: str, subject: UUID, tenant: Tenant) -> str:
    """Return the address of the page where it can be fixed, within the tenant."""
    notice = NOTICES[EventType(type)]
    page = reverse(notice.page, args=[] if notice.page == QUEUE else [subject])
    return f"{page}?{urlencode({'tenant': tenant.name})}"


def notify_people(*, at_most: int) -> None:
    """Notify people of some events, and mark these as told in the same transaction.

    Uses index: events_event_pending.
    """
    pending = Event.across_tenants.filter(webhook=None, state=Event.State.PENDING)
    events = list(pending.select_related("tenant").order_by("created_at", "id")[:at_most])
    for event in events:
        count = event.data["count"]
        if event.type == EventType.FACT_RETIRED:
            count = _count_burst(event)
        if count:
            _notify(event, count)
    told = Event.across_tenants.filter(id__in=[event.id for event in events])
    told.update(state=Event.State.DELIVERED, delivered_at=Now())


def _notify(event: Event, count: int) -> None:
    """Notify people of an event, except the one whose own changeset it is."""
    notice = NOTICES[EventType(event.type)]
    subject = event.data.get(notice.subject, event.tenant_id)
    own = Changeset.objects.of(event.tenant).filter(id=subject).values_list("actor", flat=True)
    people = list_people(event.tenant, notice.permission).exclude(username__in=list(own))
    Notification.objects.bulk_create(
        Notification(
            tenant=event.tenant, person=person, type=event.type, subject=subject, count=count
        )
        for person in people
    )


def _count_burst(event: Event) -> int:
    """Return the number of facts retired in the hour; 0 if few, or already told."""
    of_tenant: dict[str, Any] = {"tenant": event.tenant_id, "type": EventType.FACT_RETIRED}
    since = {"created_at__gt": Now() - BURST_WITHIN}
    if Notification.across_tenants.filter(**of_tenant, **since).exists():
        return 0
    rows = Event.across_tenants.filter(webhook=None, **of_tenant, **since)
    total: int = rows.aggregate(n=Sum(Cast(KT("data__count"), IntegerField())))["n"] or 0
    return total if total >= BURST else 0


def list_people(tenant: Tenant, permission: str) -> QuerySet[User]:
    """Return the admin users with a permission in a tenant, or in all."""
    app, _, codename = permission.partition(".")
    held = Permission.objects.filter(content_type__app_label=app, codename=codename)
    members = Membership.across_tenants.filter(tenant=tenant, role__permissions__in=held)
    return (
        User.objects.filter(is_active=True, is_staff=True)
        .filter(
            Q(is_superuser=True)
            | Q(user_permissions__in=held)
            | Q(groups__permissions__in=held)
            | Q(id__in=members.values("person"))
        )
        .order_by("id")
        .distinct()
    )
