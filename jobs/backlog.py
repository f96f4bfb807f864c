"""Measures how much work may be claimed, and whether any of it gets done.

Only jobs that could be claimed count: a job that waits for another, or for its time, is not stuck.
"""

import uuid
from datetime import timedelta

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from jobs.models import AT_WORK, WAITS_UNTIL, Job, State, WorkerRestart
from jobs.turns import may_be_claimed
from memoryproject.tenancy.walls import across_tenants

STANDS_STILL_AFTER = timedelta(seconds=50)
"""Time after which claimable work without any progress counts as stuck. With a lease, which
outlives its worker by up to 30 s, `health/ready` is red within 90 s."""
COUNTED_AT_MOST = 1_000
RESTARTS_SHOWN_FOR = timedelta(days=1)
RESTARTS_KEPT_FOR = timedelta(days=30)


@across_tenants()
def measure_backlog() -> dict[str, int | None]:
    """Return the number of claimable and of dead jobs of all tenants, each up to a thousand.

    `oldest_due_s` is how long the oldest claimable job has been due, `last_done_s` how long ago a
    job was last finished, in whole seconds by the database's clock; None if there is none. Uses
    indexes: jobs_job_open, jobs_job_dead, jobs_job_by_finish.
    """
    done = Job.across_tenants.exclude(finished_at=None).order_by("-finished_at")
    return {
        "due_jobs": find_claimable()[:COUNTED_AT_MOST].count(),
        "dead_jobs": Job.across_tenants.filter(state=State.DEAD)[:COUNTED_AT_MOST].count(),
        "oldest_due_s": _to_seconds(_find_longest_wait()),
        "last_done_s": _to_seconds(done.values_list(Now() - F("finished_at"), flat=True).first()),
    }


def find_claimable() -> QuerySet[Job]:
    """Return the jobs of all tenants that a free worker could claim now."""
    return Job.across_tenants.filter(may_be_claimed())


def _to_seconds(age: timedelta | None) -> int | None:
    return None if age is None else max(0, round(age.total_seconds()))


def _find_longest_wait() -> timedelta | None:
    """Return how long the oldest claimable job has been due.

    Uses index: jobs_job_open, jobs_job_by_holder.
    """
    waits: list[timedelta] = []
    for state, until in WAITS_UNTIL.items():
        aged = find_claimable().filter(state=state).order_by(until, "id")
        waits += aged.values_list(Now() - F(until), flat=True)[:1]
    return max(waits, default=None)


@across_tenants()
def explain_standstill() -> str:
    """Return a text on why work counts as stuck; empty while any of it makes progress."""
    waited = _find_longest_wait()
    if waited is None or waited < STANDS_STILL_AFTER or _is_moving():
        return ""
    if Job.across_tenants.filter(AT_WORK, busy_until__gt=Now()).exists():
        return ""
    problem = f"a job has been due for {waited.total_seconds():.0f} s"
    if is_held():
        return f"{problem}, and those that run get no further"
    return f"{problem}, and no worker takes any"


def _is_moving() -> bool:
    """Return whether a run ended recently, done or given back, but not by its worker's death.

    Uses indexes: jobs_job_by_finish, jobs_job_by_start.
    """
    since = Now() - STANDS_STILL_AFTER
    settled = Q(started_at__gt=since) & ~Q(state=State.RUNNING, error_class="")
    ended = Q(finished_at__gt=since) | settled
    return Job.across_tenants.filter(ended).exists()


@across_tenants()
def is_held() -> bool:
    """Return whether a living worker, on any machine, is running a job.

    A worker that hangs is ended by its job's own time limit, without affecting others.
    """
    return Job.across_tenants.filter(AT_WORK).exists()


def note_restart(*, cluster: uuid.UUID, reason: str) -> None:
    """Record that a cluster's workers are ended, and delete old records."""
    WorkerRestart.objects.create(cluster=cluster, reason=reason)
    WorkerRestart.objects.filter(at__lt=Now() - RESTARTS_KEPT_FOR).delete()


def list_restarts() -> QuerySet[WorkerRestart]:
    """Return the restarts of the last day, newest first."""
    recent = WorkerRestart.objects.filter(at__gt=Now() - RESTARTS_SHOWN_FOR)
    return recent.order_by("-at", "-id")
