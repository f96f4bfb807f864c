"""The list of API keys, sortable by usage, with usage by day as a small bar chart."""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import F, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Cast, Coalesce, JSONObject, NullIf
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from jobs.models import LLMCall
from memoryproject.adminkit.base import ReadOnlyAdmin
from memoryproject.adminkit.filters import words_filter
from memoryproject.adminkit.values import NOTHING, coloured_word, column, page_address, short
from memoryproject.tenancy import key_usage
from memoryproject.tenancy.key_usage import bucket_ms
from memoryproject.tenancy.models import APIKey, KeyUsage

MANAGE = "tenancy.manage_apikey"
DAYS = 7
"""Number of days of a list, today (UTC) included."""
ONE_DAY = timedelta(days=1)
WIDTH, GAP, HEIGHT = 5, 1, 18
"""Pixels of a bar's width, of a gap, and of the chart's height."""


def annotate_keys(keys: QuerySet[APIKey], *, since: date) -> QuerySet[APIKey]:
    """Return keys with their usage since a day: `used_…`, `p95_place` and `by_day`.

    `last_failures`: of the last day with any.
    """
    of_key = KeyUsage.across_tenants.filter(
        tenant=OuterRef("tenant"), key=OuterRef("pk"), day__gte=since
    )
    days = of_key.order_by("day").values(pair=JSONObject(day="day", calls="calls"))
    failed = of_key.filter(failures__isnull=False).order_by("-day").values("failures")
    return keys.annotate(
        used_calls=Coalesce(_sum(of_key, "calls"), 0),
        used_errors=Coalesce(_sum(of_key, F("errors") + F("faults")), 0),
        used_refused=Coalesce(_sum(of_key, "refused"), 0),
        used_bytes=Coalesce(_sum(of_key, F("bytes_in") + F("bytes_out")), 0),
        used_cost=_sum(_with_cost(of_key), "cost"),
        p95_place=key_usage.p95_of_key(since=since),
        by_day=ArraySubquery(days),
        last_failures=Subquery(failed[:1]),
    )


def _sum(rows: QuerySet[KeyUsage], what: Any) -> Subquery:
    return Subquery(rows.order_by().values("key").annotate(sum=Sum(what)).values("sum"))


def _with_cost(rows: QuerySet[KeyUsage]) -> QuerySet[KeyUsage]:
    """Return days of keys with `cost`: a share of their tenant's model calls of that day.

    The share is by bytes sent: a model is asked about posted text much later and in batches. NULL:
    there were no such calls, or no bytes.
    """
    starts = Cast(OuterRef("day"), models.DateTimeField())
    calls = LLMCall.across_tenants.filter(
        tenant=OuterRef("tenant"), created_at__gte=starts, created_at__lt=starts + ONE_DAY
    )
    of_day = KeyUsage.across_tenants.filter(tenant=OuterRef("tenant"), day=OuterRef("day"))
    day_cost = Subquery(calls.values("tenant").annotate(sum=Sum("cost")).values("sum"))
    day_bytes = Subquery(of_day.values("tenant").annotate(sum=Sum("bytes_in")).values("sum"))
    with_sums = rows.annotate(day_cost=day_cost, day_bytes=day_bytes)
    return with_sums.annotate(cost=F("day_cost") * F("bytes_in") / NullIf(F("day_bytes"), Value(0)))


def list_days(key: APIKey, *, days: int) -> list[Any]:
    """Return the days (UTC) on which a key was used, newest first.

    Each has its `p95_ms`, and as `cost` its share of the tenant's cost, by bytes sent.
    """
    since = timezone.now().date() - timedelta(days=days - 1)
    rows = KeyUsage.objects.of(key.tenant).filter(key=key, day__gte=since)
    used: list[Any] = list(_with_cost(rows).order_by("-day"))
    for row in used:
        row.p95_ms, row.cost = key_usage.find_p95(row.latencies), row.cost or Decimal(0)
    return used


def draw_days(calls: Mapping[str, int], *, days: int = DAYS) -> SafeString:
    """Return the calls of the last days as an SVG chart, with a text for screen readers."""
    first = timezone.now().date() - timedelta(days=days - 1)
    most = max(calls.values(), default=0) or 1
    bars = []
    for at in range(days):
        day = str(first + timedelta(days=at))
        count = calls.get(day, 0)
        height = max(round(HEIGHT * count / most), 1)
        bars.append((day, count, at * (WIDTH + GAP), HEIGHT - height, height))
    size = {"width": days * (WIDTH + GAP), "height": HEIGHT, "bar": WIDTH}
    return render_to_string("console/keys/sparkline.html", {"bars": bars, **size})


def key_states() -> dict[str, Q]:
    expired = Q(expires_at__lte=timezone.now())
    return {
        "active": Q(revoked_at=None) & (Q(expires_at=None) | ~expired),
        "expired": Q(revoked_at=None) & expired,
        "revoked": Q(revoked_at__isnull=False),
    }


def render_p95(key: Any) -> str:
    return NOTHING if key.p95_place is None else f"≤ {bucket_ms(key.p95_place):,} ms"


def render_reason(key: Any) -> str:
    """Return the most frequent failure of the last day with failures."""
    failures = key_usage.sum_failures([key.last_failures])
    return short(failures[0].what) if failures else NOTHING


def render_cost(key: Any) -> str:
    return NOTHING if key.used_cost is None else f"{key.used_cost:.4f}"


@admin.register(APIKey)
class APIKeyAdmin(ReadOnlyAdmin):
    """Keys with their last seven days (UTC), today included."""

    hidden = ("hash", "previous_hash")
    list_display = (
        "name state trend calls errors reason refused p95 bytes cost last_used_at acts prefix "
        "scopes tenant"
    ).split()
    list_filter = (words_filter("state", key_states), "tenant")
    search_fields = ("name", "^prefix")
    column_permissions = {"acts": MANAGE, "cost": "jobs.view_llmcall"}
    trend = column(
        "calls a day", lambda key: draw_days({one["day"]: one["calls"] for one in key.by_day})
    )
    calls = column("calls (7 days)", lambda key: f"{key.used_calls:,}", "used_calls")
    errors = column("errors", lambda key: f"{key.used_errors:,}", "used_errors")
    reason = column("last fails of", render_reason)
    refused = column("Refused (429)", lambda key: f"{key.used_refused:,}", "used_refused")
    p95 = column("p95", render_p95, "p95_place")
    cost = column("cost (share)", render_cost, "used_cost")
    bytes = column("bytes", lambda key: filesizeformat(key.used_bytes), "used_bytes")

    def get_queryset(self, request: HttpRequest) -> QuerySet[APIKey]:
        since = timezone.now().date() - timedelta(days=DAYS - 1)
        keys: QuerySet[APIKey] = super().get_queryset(request)
        return annotate_keys(keys, since=since)

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Return most calls first: people look for the heaviest users."""
        return ("-used_calls", "-id")

    @coloured_word("state")
    def state(self, key: Any) -> str | tuple[str, str]:
        state = key.state_at(timezone.now())
        failed = key.used_errors + key.used_refused
        if state == "active" and 0 < key.used_calls <= failed:
            return "fails", "all calls fail"
        return str(state)

    @admin.display(description="")
    def acts(self, key: APIKey) -> SafeString | str:
        if key.revoked_at:
            return NOTHING
        return format_html(
            '<a class="text-link" href="{0}#limit">limit</a> · '
            '<a class="text-link" href="{0}#rotate">rotate</a> '
            '<a class="console-badge bad" href="{0}#revoke">revoke</a>',
            page_address(key),
        )
