"""What a tenant's model calls came to, day by day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncDay

from jobs import spending
from jobs.models import LLMCall
from memoryproject.tenancy.models import Tenant


@dataclass(frozen=True, slots=True)
class Row:
    """The calls of one day, purpose and model.

    `cost` leaves out the calls `without_price`, which nobody knows the cost of.
    """

    day: date
    purpose: str
    model: str
    calls: int
    failed: int
    without_price: int
    input_tokens: int
    output_tokens: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class Usage:
    """The days asked for, newest first, and where today stands; no `budget` is no limit."""

    rows: tuple[Row, ...]
    spent_today: Decimal
    budget: Decimal | None
    parked_jobs: int


def measure_usage(tenant: Tenant, *, days: int, now: datetime) -> Usage:
    """Return what the calls of the last `days` came to, today (UTC) included."""
    today = spending.start_of_day(now)
    calls = LLMCall.objects.of(tenant).filter(created_at__gte=today - timedelta(days=days - 1))
    groups = (
        calls.annotate(day=TruncDay("created_at", tzinfo=UTC))
        .values("day", "purpose", "model")
        .annotate(
            calls=Count("id"),
            failed=Count("id", filter=Q(ok=False, finished_at__isnull=False)),
            without_price=Count("id", filter=Q(cost=None)),
            input_sum=Sum("input_tokens"),
            output_sum=Sum("output_tokens"),
            cost_sum=Sum("cost"),
        )
        .order_by("-day", "purpose", "model")
    )
    return Usage(
        rows=tuple(_to_row(dict(group)) for group in groups),
        spent_today=spending.find_spent(tenant, since=today),
        budget=spending.find_budget(tenant),
        parked_jobs=spending.parked_jobs(tenant).count(),
    )


@dataclass(frozen=True, slots=True)
class Day:
    """What the calls of one day (UTC) came to."""

    day: date
    calls: int
    cost: Decimal


def spend_by_day(tenant: Tenant, *, since: datetime) -> list[Day]:
    """Return the days with calls since then, oldest first.

    Uses index: jobs_llmcall_by_time, alone.
    """
    days = (
        LLMCall.objects.of(tenant)
        .filter(created_at__gte=since)
        .annotate(day=TruncDay("created_at", tzinfo=UTC))
        .values("day")
        .annotate(calls=Count("tenant"), total=Sum("cost"))
        .order_by("day")
    )
    return [
        Day(day=group["day"].date(), calls=group["calls"], cost=group["total"] or Decimal(0))
        for group in days
    ]


def _to_row(group: dict[str, Any]) -> Row:
    return Row(
        day=group["day"].date(),
        purpose=group["purpose"],
        model=group["model"],
        calls=group["calls"],
        failed=group["failed"],
        without_price=group["without_price"],
        input_tokens=group["input_sum"],
        output_tokens=group["output_sum"],
        cost=group["cost_sum"] or Decimal(0),
    )
