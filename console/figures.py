"""The numbers on the admin's front page: over a bounded range, each counted up to a cap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from django.db import connection, models
from django.db.models import Count, Q, QuerySet
from django.utils.http import urlencode
from psycopg import sql

from episodic.models import Episode
from jobs.models import Job, State
from jobs.spending import start_of_day
from memoryproject import admin_values as values
from memoryproject.tenancy.fields import first_id_at
from memoryproject.tenancy.models import Tenant, TenantModel
from semantic import queries
from semantic.models import Change, Changeset, Fact

COUNTED_AT_MOST = 10_000
"""Of one table in one span, and of rows that must be looked at one by one."""
ACTORS_OF_AT_MOST = 200
"""The newest closings whose actors are looked up."""
DAYS_A_SPAN = {7: 1, 30: 1, 90: 7}
"""The ranges to choose from, in days; a longer one is told in weeks, to stay bounded."""


@dataclass(frozen=True, slots=True)
class Span:
    """Some whole days (UTC), the end excluded."""

    start: datetime
    end: datetime

    @property
    def label(self) -> str:
        """The day, or the first day of the week."""
        return f"{self.start.day} {self.start:%b}"

    def list_of(self, model: type[models.Model], tenant: Tenant) -> str:
        """Return the address of the list of the rows made in the span."""
        return made_between(model, tenant, self.start, self.end)


def spans_of(days: int, *, now: datetime) -> list[Span]:
    """Return the spans of a range that ends with today, oldest first."""
    step = timedelta(days=DAYS_A_SPAN[days])
    count = -(-days // DAYS_A_SPAN[days])
    end = start_of_day(now) + timedelta(days=1)
    return [Span(end - (left + 1) * step, end - left * step) for left in reversed(range(count))]


def made_between(
    model: type[models.Model], tenant: Tenant, start: datetime, end: datetime, **more: Any
) -> str:
    """Return the address of the list of what a tenant got in a span of time.

    The span is told by ids: their index finds the rows in the order of the list.
    """
    place = values.list_address(model).partition("?")[0]
    asked = {
        "tenant__id__exact": tenant.id,
        "id__gte": first_id_at(start),
        "id__lt": first_id_at(end),
        **more,
    }
    return f"{place}?{urlencode(asked)}"


def count_made(model: type[TenantModel], tenant: Tenant, spans: Sequence[Span]) -> list[int]:
    """Return how many rows were made in each span; one above the cap means: more."""
    statement = sql.SQL(_read("count_made.sql")).format(table=sql.Identifier(model._meta.db_table))
    given: dict[str, Any] = {
        "tenant": tenant.id,
        "firsts": [first_id_at(span.start) for span in spans],
        "nexts": [first_id_at(span.end) for span in spans],
        "at_most": COUNTED_AT_MOST + 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement.as_string(), given)
        return [made for _, made in cursor.fetchall()]


@cache
def _read(name: str) -> str:
    return (Path(__file__).parent / "sql" / name).read_text(encoding="utf-8")


def say_sum(counts: Sequence[int]) -> str:
    """Return the sum of capped counts in words: `12,345`, or `12,345+` for at least that."""
    total = sum(min(count, COUNTED_AT_MOST) for count in counts)
    return f"{total:,}+" if any(count > COUNTED_AT_MOST for count in counts) else f"{total:,}"


def say_capped(count: int) -> str:
    """Return a capped count in words."""
    return say_sum([count])


def count_capped(rows: QuerySet[Any]) -> int:
    """Return how many rows there are, at most one above the cap."""
    return rows.order_by()[: COUNTED_AT_MOST + 1].count()


def made_in(model: type[TenantModel], tenant: Tenant, spans: Sequence[Span]) -> QuerySet[Any]:
    """Return a tenant's rows of all spans together, the newest first, up to the cap."""
    rows = model.objects.of(tenant).filter(
        id__gte=first_id_at(spans[0].start), id__lt=first_id_at(spans[-1].end)
    )
    return rows.order_by("-id")[:COUNTED_AT_MOST]


def facts_by_category(tenant: Tenant, spans: Sequence[Span]) -> dict[str, tuple[int, int]]:
    """Return by category how many facts of the spans are held, and how many are not any more."""
    counts: Counter[tuple[str, bool]] = Counter(
        (category, invalid_at is None)
        for category, invalid_at in made_in(Fact, tenant, spans).values_list(
            "category", "invalid_at"
        )
    )
    return {
        category: (counts[category, True], counts[category, False])
        for category in sorted({category for category, _ in counts})
    }


def count_degraded(model: type[TenantModel], tenant: Tenant, spans: Sequence[Span]) -> int:
    """Return how many rows of the spans the offline engine made for a failing model."""
    newest = made_in(model, tenant, spans)
    count: int = newest.aggregate(degraded=Count("id", filter=Q(degraded=True)))["degraded"]
    return count


@dataclass(frozen=True, slots=True)
class Closing:
    """A fact that is held no more, and who ended it; None: nobody is on record."""

    fact: Fact
    changeset: Changeset | None

    @property
    def because(self) -> str:
        """The reason, in a word."""
        return self.fact.invalidated_because

    @property
    def actor(self) -> str:
        """Who did it."""
        return self.changeset.actor if self.changeset else "unknown"


def closed_in(tenant: Tenant, spans: Sequence[Span]) -> QuerySet[Fact]:
    """Return the facts that ceased to be held in the spans, the last first, up to the cap.

    Uses index: semantic_fact_closed.
    """
    closed = Fact.objects.of(tenant).filter(
        invalid_at__gte=spans[0].start, invalid_at__lt=spans[-1].end
    )
    once_held = closed.exclude(invalidated_because=Fact.Because.WAITING)
    return once_held.order_by("-invalid_at")[:COUNTED_AT_MOST]


def count_waiting(tenant: Tenant) -> int:
    """Return how many facts wait for a curator, up to the cap."""
    return queries.facts_waiting(tenant).order_by("id")[:COUNTED_AT_MOST].count()


def count_closed(tenant: Tenant, spans: Sequence[Span]) -> dict[str, list[int]]:
    """Return by reason how many facts ceased to be held in each span."""
    step = spans[0].end - spans[0].start
    counts: Counter[tuple[str, int]] = Counter(
        (because, (at - spans[0].start) // step)
        for at, because in closed_in(tenant, spans).values_list("invalid_at", "invalidated_because")
        if at is not None
    )
    return {
        because: [counts[because, place] for place in range(len(spans))]
        for because in Fact.Because.values
        if any(reason == because for reason, _ in counts)
    }


def find_closings(tenant: Tenant, spans: Sequence[Span]) -> list[Closing]:
    """Return the newest closings of the spans with who did them, in two queries."""
    facts = list(closed_in(tenant, spans)[:ACTORS_OF_AT_MOST])
    ids = [fact.id for fact in facts]
    steps = Change.objects.of(tenant).filter(
        Q(memory_id__in=ids) | Q(other_memory_id__in=ids, action=Change.Action.UPDATE)
    )
    ended_by: Mapping[Any, Changeset] = {
        fact_id: step.changeset
        for step in steps.select_related("changeset").order_by("id")
        for fact_id, pair in step.states.items()
        if pair[1] is None or pair[1]["because"]
    }
    return [Closing(fact, ended_by.get(str(fact.id))) for fact in facts]


def count_jobs(tenant: Tenant) -> dict[str, int]:
    """Return how many of a tenant's jobs stand ready, run, or died; each up to the cap.

    Uses indexes: jobs_job_one_ready, jobs_job_one_running, jobs_job_dead.
    """
    jobs = Job.objects.of(tenant)
    return {
        state.value: count_capped(jobs.filter(state=state))
        for state in (State.READY, State.RUNNING, State.DEAD)
    }


def degraded_work(tenant: Tenant, spans: Sequence[Span]) -> list[tuple[str, int, str]]:
    """Return what the offline engine made in the spans for a failing model, and where it is."""
    start, end = spans[0].start, spans[-1].end
    return [
        (
            str(model._meta.verbose_name_plural),
            count_degraded(model, tenant, spans),
            made_between(model, tenant, start, end, degraded__exact=1),
        )
        for model in (Episode, Changeset)
    ]
