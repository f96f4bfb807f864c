"""Turns events into notifications of people, with text and page."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.models import Permission, User
from django.db.models import IntegerField, Q, QuerySet, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Now
from django.urls import reverse

from memoryproject.tenancy.models import Membership, Tenant
from semantic.models import Changeset
from wings.events.models import Event, Notification
from wings.events.types import FACT_RETIRED, find_notices

BURST = 50
"""Number of facts retired in a tenant within an hour that causes a notification."""
BURST_WITHIN = timedelta(hours=1)


def render_words(type: str, count: int) -> str:
    words = find_notices()[type].words
    return words if count == 1 else f"{words} (×{count})"


def find_address(type: str, subject: UUID, tenant: Tenant) -> str:
    """Return the address of the page for an event's notice, within the tenant."""
    notice = find_notices()[type]
    page = reverse(notice.page, args=[subject] if notice.takes_id else [])
    return f"{page}?{urlencode({'tenant': tenant.name})}"


def notify_people(*, at_most: int) -> None:
    """Notify people of some events, and mark these as told in the same transaction.

    Uses index: events_event_pending.
    """
    pending = Event.across_tenants.filter(webhook=None, state=Event.State.PENDING)
    events = list(pending.select_related("tenant").order_by("created_at", "id")[:at_most])
    for event in events:
        count = event.data["count"]
        if event.type == FACT_RETIRED.code:
            count = _count_burst(event)
        if count and event.type in find_notices():
            _notify(event, count)
    told = Event.across_tenants.filter(id__in=[event.id for event in events])
    told.update(state=Event.State.DELIVERED, delivered_at=Now())


def _notify(event: Event, count: int) -> None:
    """Notify people of an event, except the one whose own changeset it is."""
    notice = find_notices()[event.type]
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
    of_tenant: dict[str, Any] = {"tenant": event.tenant_id, "type": FACT_RETIRED.code}
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
