"""Counts a tenant's rows by day or week for the front page, each count up to a limit."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import models
from django.db.models import Count, Q, QuerySet
from django.utils.http import urlencode
from psycopg import sql

from jobs.spending import start_of_day
from memoryproject.adminkit import values
from memoryproject.database.clock import execute, read_sql
from memoryproject.database.ids import first_id_at
from memoryproject.tenancy.models import Tenant, TenantModel
from semantic.models import Fact

COUNT_CREATED = read_sql(__file__, "count_created.sql")
DAYS_A_SPAN = {7: 1, 30: 1, 90: 7}
"""The ranges to choose from, in days; longer ones are counted by week, to limit the work."""


class Span(NamedTuple):
    """Some whole days (UTC), the end excluded."""

    start: datetime
    end: datetime

    @property
    def label(self) -> str:
        """The day, or the first day of the week."""
        return f"{self.start.day} {self.start:%b}"


def spans_of(days: int, *, now: datetime) -> list[Span]:
    """Return the spans of a range that ends with today, oldest first."""
    step = timedelta(days=DAYS_A_SPAN[days])
    count = -(-days // DAYS_A_SPAN[days])
    end = start_of_day(now) + timedelta(days=1)
    return [Span(end - (left + 1) * step, end - left * step) for left in reversed(range(count))]


def join_spans(spans: Sequence[Span]) -> Span:
    return Span(spans[0].start, spans[-1].end)


def find_place(at: datetime | None, spans: Sequence[Span]) -> int:
    """Return the span that contains a time."""
    assert at is not None
    return (at - spans[0].start) // (spans[0].end - spans[0].start)


def rows_address(model: type[models.Model], tenant: Tenant, span: Span, **more: Any) -> str:
    """Return the address of the list of a tenant's rows of a span of time.

    The span is a range of ids, whose index gives the rows in the order of the list.
    """
    ids = {"id__gte": first_id_at(span.start), "id__lt": first_id_at(span.end)}
    return f"{values.list_address(model, tenant__id=tenant.id)}&{urlencode({**ids, **more})}"


def count_created(model: type[TenantModel], tenant: Tenant, spans: Sequence[Span]) -> list[int]:
    """Return the number of rows created in each span, at most one above the limit."""
    statement = sql.SQL(COUNT_CREATED).format(table=sql.Identifier(model._meta.db_table))
    params: dict[str, Any] = {
        "tenant": tenant.id,
        "firsts": [first_id_at(span.start) for span in spans],
        "nexts": [first_id_at(span.end) for span in spans],
        "at_most": settings.COUNTED_AT_MOST + 1,
    }
    return [count for _, count in execute(statement, params)]


def count_degraded(model: type[TenantModel], tenant: Tenant, spans: Sequence[Span]) -> int:
    """Return how many of each span's newest rows are from the offline engine as a fallback."""
    rows = model.objects.of(tenant).filter(
        id__gte=first_id_at(spans[0].start), id__lt=first_id_at(spans[-1].end)
    )
    newest = rows.order_by("-id")[: settings.COUNTED_AT_MOST]
    return int(newest.aggregate(degraded=Count("id", filter=Q(degraded=True)))["degraded"])


def find_retired(tenant: Tenant, spans: Sequence[Span]) -> QuerySet[Fact]:
    """Return the facts retired in the spans, latest first. Uses index: semantic_fact_closed."""
    whole = join_spans(spans)
    rows = Fact.objects.of(tenant).filter(invalid_at__gte=whole.start, invalid_at__lt=whole.end)
    return rows.order_by("-invalid_at", "-id")


def count_retired(tenant: Tenant, spans: Sequence[Span]) -> dict[str, list[int]]:
    """Return, by reason, how many facts were retired in each span, up to the limit."""
    once_active = find_retired(tenant, spans).exclude(invalidated_because=Fact.Because.WAITING)
    latest = once_active.values_list("invalid_at", "invalidated_because")
    counts: dict[str, list[int]] = {}
    for at, reason in latest[: settings.COUNTED_AT_MOST]:
        counts.setdefault(reason, [0] * len(spans))[find_place(at, spans)] += 1
    return counts


def span_unit(spans: Sequence[Span]) -> str:
    return "day" if (spans[0].end - spans[0].start).days == 1 else "week"
