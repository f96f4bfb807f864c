"""Creates jobs, as the interface between domain code and background work.

Called inside the transaction that wrote the data, so that the job and its wake-up become visible
with the data or not at all.
"""

import json
import uuid
from typing import Any

from django_q.tasks import async_task

from jobs.models import Job, Kind, State
from memoryproject.database.ids import make_id
from memoryproject.process.crash_points import Point, pass_point
from memoryproject.tenancy.models import Tenant

RUN_JOB = "jobs.tasks.run_next"
"""The function that a worker calls, by the name in a wake-up; a test resolves it."""

NEW_JOB = """
    INSERT INTO jobs_job (
        id, tenant_id, kind, scope, lane, input,
        state, attempts, transient_failures, error_class, result
    ) VALUES (%s, %s, %s, %s, %s, %s, 'ready', 0, 0, '', '{}')
    ON CONFLICT DO NOTHING RETURNING *
"""


def wake(job_id: uuid.UUID) -> None:
    """Ask any worker to run the next job. If this is lost, work is delayed but not lost."""
    async_task(RUN_JOB, str(job_id))


def enqueue(
    *,
    tenant: Tenant,
    kind: Kind,
    scope: uuid.UUID,
    input: dict[str, Any] | None = None,
    lane: uuid.UUID | None = None,
) -> Job:
    """Return the ready job of that kind and scope, created and woken if there is none.

    An existing one gets the flags of `input` too: asking twice creates one job. Jobs of one `lane`
    run one after another.
    """
    flags = input or {}
    while True:
        waiting = _join_waiting(tenant=tenant, kind=kind, scope=scope, lane=lane, flags=flags)
        if waiting is not None:
            return waiting
        columns = [make_id(), tenant.id, kind, scope, lane, json.dumps(flags)]
        for job in Job.objects.of(tenant).raw(NEW_JOB, columns):
            pass_point(Point.JOB_INSERTED)
            wake(job.id)
            return job
        # Another one became ready meanwhile: join it.


def _join_waiting(
    *, tenant: Tenant, kind: Kind, scope: uuid.UUID, lane: uuid.UUID | None, flags: dict[str, Any]
) -> Job | None:
    """Return the ready job, with our flags added, in our lane.

    It is locked only if it must change, since workers skip a locked job. Unlocked it may start
    before our data is visible; that is harmless, since every run checks again, under the
    conversation's lock, whether more has become due.
    """
    ready = Job.objects.of(tenant).filter(kind=kind, scope=scope, state=State.READY)
    waiting = ready.first()
    if waiting is None or (waiting.lane, {**waiting.input, **flags}) == (lane, waiting.input):
        return waiting
    waiting = ready.select_for_update().first()
    if waiting is not None:
        waiting.input, waiting.lane = {**waiting.input, **flags}, lane
        waiting.save(update_fields=["input", "lane"])
    return waiting
