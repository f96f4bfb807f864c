"""Deletes a tenant's webhooks with their events, inside an erasure."""

from events.models import Event, Notification, Webhook
from memoryproject.tenancy.models import Tenant


def erase_events(tenant: Tenant, *, at_most: int) -> int:
    """Delete some events of a tenant, and all notifications; return how many events."""
    Notification.objects.of(tenant).delete()
    ids = list(Event.objects.of(tenant).order_by("id").values_list("id", flat=True)[:at_most])
    return Event.objects.of(tenant).filter(id__in=ids).delete()[0]


def erase_webhooks(tenant: Tenant) -> int:
    return Webhook.objects.of(tenant).delete()[0]
