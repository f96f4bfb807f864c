"""Turns events into notifications of the people whom they concern, by their roles."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Permission, User
from django.db.models import IntegerField, Q, QuerySet, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Now

from events.models import Event, EventType, Notification
from events.notices import NOTICES
from memoryproject.tenancy.models import Membership, Tenant

BURST = 50
"""So many facts retired in a tenant within an hour are worth a look."""
BURST_WITHIN = timedelta(hours=1)


def notify_people(*, at_most: int) -> None:
    """Tell people of some events, in one transaction with putting these down as told.

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
    notice = NOTICES[EventType(event.type)]
    subject = event.data.get(notice.subject, event.tenant_id)
    Notification.objects.bulk_create(
        Notification(
            tenant=event.tenant, person=person, type=event.type, subject=subject, count=count
        )
        for person in list_people(event.tenant, notice.permission)
    )


def _count_burst(event: Event) -> int:
    """Return how many facts were retired in the hour; 0 where they are few, or it was told."""
    of_tenant: dict[str, Any] = {"tenant": event.tenant_id, "type": EventType.FACT_RETIRED}
    since = {"created_at__gt": Now() - BURST_WITHIN}
    if Notification.across_tenants.filter(**of_tenant, **since).exists():
        return 0
    rows = Event.across_tenants.filter(webhook=None, **of_tenant, **since)
    total: int = rows.aggregate(n=Sum(Cast(KT("data__count"), IntegerField())))["n"] or 0
    return total if total >= BURST else 0


def list_people(tenant: Tenant, permission: str) -> QuerySet[User]:
    """Return who may use the admin and has a permission in a tenant, in all or in this one."""
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
