"""The list of API keys: what each called in the last days, sortable, and its acts."""

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.keys import usage
from console.keys.page import MANAGE
from console.keys.usage import draw_sparkline
from memoryproject.adminkit.base import ReadOnlyAdmin
from memoryproject.adminkit.filters import words_filter
from memoryproject.adminkit.values import NOTHING, coloured_word
from memoryproject.tenancy.key_usage import bucket_ms
from memoryproject.tenancy.models import APIKey


def key_states() -> dict[str, Q]:
    """Return what tells keys of each state apart."""
    expired = Q(expires_at__lte=timezone.now())
    return {
        "active": Q(revoked_at=None) & (Q(expires_at=None) | ~expired),
        "expired": Q(revoked_at=None) & expired,
        "revoked": Q(revoked_at__isnull=False),
    }


@admin.register(APIKey)
class APIKeyAdmin(ReadOnlyAdmin):
    """Keys with their last seven days (UTC), today included."""

    list_before_template = "console/keys/bar.html"
    hidden = ("hash", "previous_hash")
    list_display = (
        "name", "state", "trend", "calls", "errors", "refused", "p95", "bytes", "cost",
        "last_used_at", "acts", "prefix", "scopes", "tenant",
    )  # fmt: skip
    list_filter = (words_filter("state", key_states), "tenant")
    search_fields = ("name", "^prefix")

    def get_queryset(self, request: HttpRequest) -> QuerySet[APIKey]:
        since = timezone.now().date() - timedelta(days=usage.DAYS - 1)
        keys: QuerySet[APIKey] = super().get_queryset(request)
        return usage.annotate_keys(keys, since=since)

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Whoever calls most comes first: that is whom people look for."""
        return ("-used_calls", "-id")

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        columns = super().get_list_display(request)
        unseen = {"acts"} if not request.user.has_perm(MANAGE) else set()
        if not request.user.has_perm("jobs.view_llmcall"):
            unseen.add("cost")
        return [column for column in columns if column not in unseen]

    @coloured_word("state")
    def state(self, key: Any) -> str | tuple[str, str]:
        state = key.state_at(timezone.now())
        failed = key.used_errors + key.used_refused
        if state == "active" and 0 < key.used_calls <= failed:
            return "fails", "all calls fail"
        return str(state)

    @admin.display(description="calls a day")
    def trend(self, key: Any) -> SafeString:
        return draw_sparkline(usage.fill_days({one["day"]: one["calls"] for one in key.by_day}))

    @admin.display(description="calls (7 days)", ordering="used_calls")
    def calls(self, key: Any) -> str:
        return f"{key.used_calls:,}"

    @admin.display(description="errors", ordering="used_errors")
    def errors(self, key: Any) -> str:
        return f"{key.used_errors:,}"

    @admin.display(description="Refused (429)", ordering="used_refused")
    def refused(self, key: Any) -> str:
        return f"{key.used_refused:,}"

    @admin.display(description="p95", ordering="p95_place")
    def p95(self, key: Any) -> str:
        return NOTHING if key.p95_place is None else f"≤ {bucket_ms(key.p95_place):,} ms"

    @admin.display(description="bytes", ordering="used_bytes")
    def bytes(self, key: Any) -> str:
        return filesizeformat(key.used_bytes)

    @admin.display(description="cost (share)", ordering="used_cost")
    def cost(self, key: Any) -> str:
        return NOTHING if key.used_cost is None else f"{key.used_cost:.4f}"

    @admin.display(description="")
    def acts(self, key: APIKey) -> SafeString | str:
        """Return the ways to the forms of its page."""
        if key.revoked_at:
            return NOTHING
        page = reverse("admin:tenancy_apikey_change", args=[key.pk])
        return format_html(
            '<a class="text-link" href="{0}#limit">limit</a> · '
            '<a class="text-link" href="{0}#rotate">rotate</a> '
            '<a class="console-badge bad" href="{0}#revoke">revoke</a>',
            page,
        )
