"""Usage and cost of a tenant's model calls, by day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncDate

from jobs import spending
from jobs.models import LLMCall
from memoryproject.tenancy.models import Tenant


@dataclass(frozen=True, slots=True)
class Today:
    """Usage of today (UTC); `budget` None: no limit."""

    spent_today: Decimal
    budget: Decimal | None
    parked_jobs: int


def measure_today(tenant: Tenant, *, now: datetime) -> Today:
    """Return what a tenant has spent today, its budget, and the jobs paused by it."""
    return Today(
        spent_today=spending.find_spent(tenant, since=spending.start_of_day(now)),
        budget=spending.find_budget(tenant),
        parked_jobs=spending.parked_jobs(tenant).count(),
    )


def count_calls(tenant: Tenant, *, days: int, now: datetime) -> Sequence[Mapping[str, object]]:
    """Return the calls of the last `days`, today (UTC) included, by day, purpose and model.

    The newest day comes first. `cost_sum` leaves out the calls `without_price`, whose cost is
    unknown.
    """
    since = spending.start_of_day(now) - timedelta(days=days - 1)
    groups = (
        LLMCall.objects.of(tenant)
        .filter(created_at__gte=since)
        .values("purpose", "model", day=TruncDate("created_at", tzinfo=UTC))
        .annotate(
            calls=Count("id"),
            failed=Count("id", filter=Q(ok=False, finished_at__isnull=False)),
            without_price=Count("id", filter=Q(cost=None)),
            input_sum=Sum("input_tokens"),
            output_sum=Sum("output_tokens"),
            cost_sum=Sum("cost", default=Decimal(0)),
        )
        .order_by("-day", "purpose", "model")
    )
    return list(groups)


@dataclass(frozen=True, slots=True)
class Day:
    """What the calls of one day (UTC) came to."""

    day: date
    calls: int
    cost: Decimal


def spend_by_day(tenant: Tenant, *, since: datetime) -> list[Day]:
    """Return the days with calls since a day, oldest first.

    Uses index: jobs_llmcall_by_time, alone.
    """
    days = (
        LLMCall.objects.of(tenant)
        .filter(created_at__gte=since)
        .values_list(TruncDate("created_at", tzinfo=UTC))
        .annotate(calls=Count("tenant"), total=Sum("cost", default=Decimal(0)))
        .order_by(TruncDate("created_at", tzinfo=UTC))
    )
    return [Day(*row) for row in days]
