"""Having events delivered again, on record."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from console.action_log import record
from events import outbox
from events.models import Event

AT_ONCE = 500


@admin.action(description="Deliver again", permissions=["redeliver"])
def redeliver_selected(_: Any, request: HttpRequest, queryset: QuerySet[Event]) -> None:
    """Have the marked events delivered once more, the oldest first."""
    to_webhooks = queryset.exclude(webhook=None)
    events = list(to_webhooks.select_related("tenant").order_by("id")[:AT_ONCE])
    with transaction.atomic():
        for event in events:
            outbox.redeliver(event)
            record(request, event, "had it delivered again")
    messages.success(request, f"{len(events)} event{'s' * (len(events) != 1)} wait for delivery.")
