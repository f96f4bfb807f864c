"""Does all due work in this process, for tests, imports and scripts."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Q
from django.db.models.functions import Now

from jobs import reconciler
from jobs.models import Job, State
from jobs.tasks import run_job
from memoryproject.tenancy.walls import across_tenants

LOOK_AGAIN_S = 0.2


@dataclass(frozen=True, slots=True)
class Drained:
    """Number of jobs run here, of jobs that wait for a later time, and of dead ones."""

    ran: int
    later: int
    dead: int


@across_tenants()
def drain_jobs(*, report: Callable[[int], object] = lambda ran: None) -> Drained:
    """Run every due job, wait for jobs that others hold, and return when none is left.

    `report` is called with the number of jobs run so far. Jobs that wait after a failure are not
    run.
    """
    ran = 0
    while True:
        worked = 0
        for job_id in reconciler.due_jobs():
            worked += run_job(str(job_id))
            report(ran + worked)
        ran += worked
        if worked:
            continue
        waiting = Q(state=State.READY, run_after__lte=Now())
        # One that runs elsewhere, or a due one that waits for somebody to finish.
        if not Job.across_tenants.filter(waiting | Q(state=State.RUNNING)).exists():
            return Drained(
                ran=ran,
                later=Job.across_tenants.filter(state=State.READY).count(),
                dead=Job.across_tenants.filter(state=State.DEAD).count(),
            )
        time.sleep(LOOK_AGAIN_S)
