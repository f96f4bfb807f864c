"""Retries dead jobs, and cancels jobs that have not begun."""

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from jobs.enqueue import wake
from jobs.flows import get_flow
from jobs.models import Job, State
from memoryproject.edge.errors import Conflict


def retry_job(*, job: Job) -> Job:
    """Make a dead or cancelled job ready again, with its full number of attempts.

    Raises:
        Conflict: it is neither, or another job of its kind and scope is ready.
    """
    stopped = Job.objects.of(job.tenant).filter(id=job.id, state__in=[State.DEAD, State.CANCELLED])
    try:
        with transaction.atomic():
            anew = {"state": State.READY, "attempts": 0, "transient_failures": 0}
            if stopped.update(**anew, run_after=Now(), finished_at=None) != 1:
                raise Conflict("Only a dead or cancelled job can be retried.")
            get_flow(job.kind).on_retry(job.tenant, job.scope)
            wake(job.id)
    except IntegrityError:
        raise Conflict("Another job of the same kind is ready already.") from None
    job.refresh_from_db()
    return job


def cancel_job(*, job: Job) -> Job:
    """Cancel a job that waits; it can be retried. The data it would have worked on stays.

    A running job is not cancelled, as its effects may be about to be committed. A job is never both
    cancelled and done: the first change of its row counts.

    Raises:
        Conflict: it is not ready.
    """
    waiting = Job.objects.of(job.tenant).filter(id=job.id, state=State.READY)
    if waiting.update(state=State.CANCELLED, finished_at=Now()) != 1:
        raise Conflict("Only a job that waits can be cancelled.")
    job.refresh_from_db()
    return job
