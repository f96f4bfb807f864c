"""The log of deliveries, and the webhooks that they go to."""

from django.contrib import admin
from django.http import HttpRequest

from memoryproject.adminkit.base import ReadOnlyAdmin
from memoryproject.adminkit.filters import recent_filter
from wings.events.models import Event


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at type state attempts status error_class latency_ms retry_at webhook tenant"
    ).split()
    list_filter = ("state", "type", recent_filter("made"), "tenant")
    search_fields = ("type", "error_class")
    id_search = ("id", "webhook", "scope")

    def has_redeliver_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("events.redeliver_event")
