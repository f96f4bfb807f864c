"""Writes events for webhooks and for people, in the transaction of what happened."""

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from jobs.enqueue import enqueue
from jobs.models import Kind
from memoryproject.edge.errors import Problem
from memoryproject.process.addresses import find_webhook_fault
from memoryproject.tenancy.models import Tenant
from memoryproject.wings import EventType
from wings.events.models import Event, Webhook

WEBHOOKS_AT_MOST = 20
"""Number of webhooks of a tenant: each event is stored once for each of them."""


class NewEvent(NamedTuple):
    """A new event; `data` has ids, numbers and fixed words."""

    type: EventType
    data: dict[str, Any]


def list_webhooks(tenant: Tenant) -> list[Webhook]:
    """Return the webhooks that receive events; without any, nothing is announced."""
    return list(Webhook.objects.of(tenant).filter(stopped_at=None).order_by("id"))


def announce(
    events: Sequence[NewEvent],
    *,
    tenant: Tenant,
    scope: uuid.UUID,
    webhooks: Sequence[Webhook] | None = None,
) -> None:
    """Store events for delivery, in this order and after earlier ones of the scope.

    `scope` is the id of a conversation that the caller has locked, or the tenant's. `webhooks` is
    the result of `list_webhooks`, if the caller has it already.
    """
    if not events:
        return
    _keep_for_people(events, tenant=tenant, scope=scope)
    for webhook in list_webhooks(tenant) if webhooks is None else webhooks:
        rows = [
            Event(
                tenant=tenant,
                webhook=webhook,
                type=event.type.code,
                scope=scope,
                data=event.data,
            )
            for event in events
            if not webhook.types or event.type.code in webhook.types
        ]
        if rows:
            Event.objects.bulk_create(rows, batch_size=1_000)
            enqueue(tenant=tenant, kind=Kind.DELIVER, scope=webhook.id)


def _keep_for_people(events: Sequence[NewEvent], *, tenant: Tenant, scope: uuid.UUID) -> None:
    """Store one row per type that people are notified of, with the number of events."""
    counts = Counter(event.type for event in events if event.type.notice)
    for type in counts:
        first = next(event.data for event in events if event.type == type)
        data = {name: first[name] for name in first if name.endswith("_id")}
        data["count"] = counts[type]
        Event.objects.create(tenant=tenant, webhook=None, type=type.code, scope=scope, data=data)


def redeliver(event: Event) -> None:
    """Queue a webhook's event again, whatever its state, before later ones.

    It keeps its id, so that a receiver recognizes it.
    """
    assert event.webhook_id is not None
    with transaction.atomic():
        Event.objects.of(event.tenant).filter(id=event.id).update(
            state=Event.State.PENDING,
            attempts=0,
            queued_at=Now(),
            retry_at=Now(),
            delivered_at=None,
        )
        enqueue(tenant=event.tenant, kind=Kind.DELIVER, scope=event.webhook_id)
    event.refresh_from_db()


def add_webhook(*, tenant: Tenant, url: str, types: Iterable[str], actor: str) -> Webhook:
    """Create a webhook for these types of events; without any, for all.

    Raises:
        Problem: the address is not permitted; the tenant has the maximum number of webhooks.
    """
    fault = find_webhook_fault(url, settings.WEBHOOK_NETWORKS)
    if fault:
        raise Problem("The request has errors.", fields={"url": [f"This {fault}."]})
    if Webhook.objects.of(tenant).count() >= WEBHOOKS_AT_MOST:
        raise Problem(f"There are {WEBHOOKS_AT_MOST} webhooks already: delete one.")
    webhook = Webhook.objects.create(tenant=tenant, url=url, types=sorted(set(types)), actor=actor)
    webhook.refresh_from_db()
    return webhook


def delete_webhook(webhook: Webhook) -> None:
    with transaction.atomic():
        Webhook.objects.of(webhook.tenant).select_for_update().get(id=webhook.id)
        Event.objects.of(webhook.tenant).filter(webhook=webhook).delete()
        Webhook.objects.of(webhook.tenant).filter(id=webhook.id).delete()
