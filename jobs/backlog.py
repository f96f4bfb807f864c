"""How much work is due, and whether any of it gets done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Case, DurationField, ExpressionWrapper, F, Max, When
from django.db.models.functions import Now

from jobs.claims import is_due
from jobs.models import Job, State
from memoryproject.tenancy.walls import across_tenants

STANDS_STILL_AFTER = timedelta(seconds=60)
"""Due work, and nobody who holds or finishes any for so long."""
LEFT_ALONE_AFTER = timedelta(minutes=15)
"""Work that nobody takes although other work gets done."""
COUNTED_AT_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Backlog:
    """Jobs due now and dead ones, each counted to a thousand.

    `standstill` says in words why the work counts as stuck; it is empty while it gets on.
    """

    due: int
    dead: int
    standstill: str


@across_tenants()
def measure_backlog() -> Backlog:
    """Look at the jobs of all tenants, by the database's clock.

    Uses indexes: jobs_job_open, jobs_job_dead, jobs_job_by_finish.
    """
    due = Job.across_tenants.filter(is_due())
    dead = Job.across_tenants.filter(state=State.DEAD)
    return Backlog(
        due=due[:COUNTED_AT_MOST].count(),
        dead=dead[:COUNTED_AT_MOST].count(),
        standstill=explain_standstill(),
    )


@across_tenants()
def explain_standstill() -> str:
    """Return in words why due work counts as stuck; nothing while it gets on."""
    since = Case(When(state=State.READY, then=F("run_after")), default=F("lease_until"))
    age = ExpressionWrapper(Now() - since, output_field=DurationField())
    due = Job.across_tenants.filter(is_due())
    waited = due.aggregate(oldest=Max(age))["oldest"]
    if waited is None or waited < STANDS_STILL_AFTER:
        return ""
    said = f"a job has been due for {waited.total_seconds():.0f} s"
    if waited >= LEFT_ALONE_AFTER:
        return f"{said}, and nobody takes it"
    return "" if _somebody_works() else f"{said}, and no worker takes any"


def _somebody_works() -> bool:
    held = Job.across_tenants.filter(state=State.RUNNING, lease_until__gt=Now())
    finished = Job.across_tenants.filter(finished_at__gt=Now() - STANDS_STILL_AFTER)
    return held.exists() or finished.exists()
