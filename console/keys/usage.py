"""What keys called, as pages show it: sums, day by day, and as small bars in a line of text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    DateTimeField,
    DecimalField,
    F,
    OuterRef,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.db.models.functions import Cast, Coalesce, JSONObject, NullIf
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from jobs import usage as spending
from jobs.models import LLMCall
from memoryproject.tenancy import key_usage
from memoryproject.tenancy.models import APIKey, KeyUsage, Tenant

DAYS = 7
"""Of a list, today (UTC) included."""
ONE_DAY = timedelta(days=1)
WIDTH, GAP, HEIGHT = 5, 1, 18
"""Of a bar, between two, and of the picture, in px."""


def annotate_keys(keys: QuerySet[APIKey], *, since: date) -> QuerySet[APIKey]:
    """Return keys with what they called from a day on: `used_…`, `p95_place` and `by_day`."""
    of_key = KeyUsage.across_tenants.filter(
        tenant=OuterRef("tenant"), key=OuterRef("pk"), day__gte=since
    )
    days = of_key.order_by("day").values(pair=JSONObject(day="day", calls="calls"))
    return keys.annotate(
        used_calls=_sum(of_key, "calls"),
        used_errors=_sum(of_key, F("errors") + F("faults")),
        used_refused=_sum(of_key, "refused"),
        used_bytes=_sum(of_key, F("bytes_in") + F("bytes_out")),
        used_cost=_share_of_cost(of_key),
        p95_place=key_usage.p95_of_key(since=since),
        by_day=ArraySubquery(days),
    )


def _sum(rows: QuerySet[KeyUsage], what: Any) -> Coalesce:
    sums = rows.order_by().values("key").annotate(sum=Sum(what)).values("sum")
    return Coalesce(Subquery(sums), Value(0))


def _share_of_cost(rows: QuerySet[KeyUsage]) -> Subquery:
    """Return the part of its tenant's model calls that falls to a key, by the bytes it sent.

    A model is asked about what was posted, long after and by many calls at once.
    """
    starts = Cast(OuterRef("day"), DateTimeField())
    calls = LLMCall.across_tenants.filter(
        tenant=OuterRef("tenant"), created_at__gte=starts, created_at__lt=starts + ONE_DAY
    )
    of_day = KeyUsage.across_tenants.filter(tenant=OuterRef("tenant"), day=OuterRef("day"))
    shares = (
        rows.order_by()
        .annotate(
            day_cost=Subquery(calls.values("tenant").annotate(sum=Sum("cost")).values("sum")),
            day_bytes=Subquery(of_day.values("tenant").annotate(sum=Sum("bytes_in")).values("sum")),
        )
        .values("key")
        .annotate(sum=Sum(F("day_cost") * F("bytes_in") / NullIf(F("day_bytes"), Value(0))))
        .values("sum")
    )
    return Subquery(shares, output_field=DecimalField(max_digits=20, decimal_places=8))


def fill_days(calls: Mapping[str, int], *, days: int = DAYS) -> list[tuple[str, int]]:
    """Return the calls of each of the last days, oldest first, with zeros where there are none."""
    today = timezone.now().date()
    names = [str(today - timedelta(days=ago)) for ago in reversed(range(days))]
    return [(name, calls.get(name, 0)) for name in names]


@dataclass(frozen=True, slots=True)
class Day:
    """What a key called on one day (UTC). `cost` is its share of the tenant's, by bytes sent."""

    row: KeyUsage
    p95_ms: int | None
    cost: Decimal


def list_days(key: APIKey, *, days: int) -> list[Day]:
    """Return the days on which a key was used, newest first."""
    since = timezone.now().date() - timedelta(days=days - 1)
    rows = KeyUsage.objects.of(key.tenant).filter(day__gte=since)
    sent = dict(rows.order_by().values_list("day").annotate(Sum("bytes_in")))
    costs = _cost_by_day(key.tenant, since)
    return [
        Day(
            row,
            key_usage.find_p95(row.latencies),
            costs.get(row.day, Decimal(0)) * row.bytes_in / (sent[row.day] or 1),
        )
        for row in rows.filter(key=key).order_by("-day")
    ]


def _cost_by_day(tenant: Tenant, since: date) -> dict[date, Decimal]:
    start = datetime(since.year, since.month, since.day, tzinfo=UTC)
    return {day.day: day.cost for day in spending.spend_by_day(tenant, since=start)}


def draw_sparkline(values: Sequence[tuple[str, int]]) -> SafeString:
    """Return the bars of labelled numbers as SVG, which says them to who cannot see it."""
    most = max((value for _, value in values), default=0) or 1
    bars = format_html_join(
        "",
        '<rect x="{}" y="{}" width="{}" height="{}"><title>{}: {}</title></rect>',
        (
            (at * (WIDTH + GAP), HEIGHT - height, WIDTH, height, label, value)
            for at, (label, value) in enumerate(values)
            for height in [max(round(HEIGHT * value / most), 1)]
        ),
    )
    return format_html(
        '<svg class="console-spark" width="{}" height="{}" role="img" aria-label="{}">{}</svg>',
        len(values) * (WIDTH + GAP),
        HEIGHT,
        ", ".join(str(value) for _, value in values),
        bars,
    )
