"""How much work is due, and whether any of it gets done."""

from datetime import timedelta

from django.db.models import F, Q
from django.db.models.functions import Now

from jobs.models import WAITS_UNTIL, Job, State
from jobs.turns import is_due
from memoryproject.tenancy.walls import across_tenants

STANDS_STILL_AFTER = timedelta(seconds=60)
"""Due work, and nobody who holds or finishes any for so long."""
LEFT_ALONE_AFTER = timedelta(minutes=15)
"""Work that nobody takes although work which came so much later was taken."""
COUNTED_AT_MOST = 1_000


@across_tenants()
def measure_backlog() -> dict[str, int | None]:
    """Look at the jobs of all tenants: those due now and dead ones, each counted to a thousand.

    `oldest_due_s` is how long the oldest of them has been due, `last_done_s` how long ago
    a job was last finished, whole seconds by the database's clock; None where there is none.
    Uses indexes: jobs_job_open, jobs_job_dead, jobs_job_by_finish.
    """
    longest = _find_longest_due()
    done = Job.across_tenants.exclude(finished_at=None).order_by("-finished_at")
    return {
        "due_jobs": Job.across_tenants.filter(is_due())[:COUNTED_AT_MOST].count(),
        "dead_jobs": Job.across_tenants.filter(state=State.DEAD)[:COUNTED_AT_MOST].count(),
        "oldest_due_s": _to_seconds(longest[1] if longest else None),
        "last_done_s": _to_seconds(done.values_list(Now() - F("finished_at"), flat=True).first()),
    }


def _to_seconds(age: timedelta | None) -> int | None:
    return None if age is None else max(0, round(age.total_seconds()))


def _find_longest_due() -> tuple[Job, timedelta] | None:
    """Return the job that has been due for longest, and how long; None where none is due.

    A row or two are read, however many wait. Uses indexes: jobs_job_open, jobs_job_by_holder.
    """
    longest = []
    for state, until in WAITS_UNTIL.items():
        due = Job.across_tenants.filter(**{"state": state, f"{until}__lte": Now()})
        aged = due.annotate(age=Now() - F(until)).order_by(until, "id")
        longest += [(job, job.age) for job in aged[:1]]
    return max(longest, key=lambda pair: pair[1], default=None)


@across_tenants()
def explain_standstill() -> str:
    """Return in words why due work counts as stuck; nothing while it gets on."""
    longest = _find_longest_due()
    if longest is None or longest[1] < STANDS_STILL_AFTER:
        return ""
    oldest, waited = longest
    problem = f"a job has been due for {waited.total_seconds():.0f} s"
    if waited >= LEFT_ALONE_AFTER and _later_work_was_taken(oldest, waited):
        return f"{problem}, and nobody takes it"
    return "" if _somebody_works() else f"{problem}, and no worker takes any"


def _later_work_was_taken(oldest: Job, waited: timedelta) -> bool:
    """Return whether it is passed over: a long backlog is done in order, however slowly.

    Tenants take turns, and some kinds come first: only its own tenant's of its kind count.
    """
    taken = Q(state=State.RUNNING) | Q(finished_at__gt=Now() - LEFT_ALONE_AFTER)
    later = Q(run_after__gt=Now() - waited + LEFT_ALONE_AFTER)
    alike = Job.objects.of(oldest.tenant).filter(kind=oldest.kind)
    return alike.filter(taken, later, started_at__isnull=False).exists()


def _somebody_works() -> bool:
    held = Job.across_tenants.filter(state=State.RUNNING, lease_until__gt=Now())
    finished = Job.across_tenants.filter(finished_at__gt=Now() - STANDS_STILL_AFTER)
    return held.exists() or finished.exists()
