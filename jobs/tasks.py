"""Task of a woken worker: claim the job, run its flow, record the outcome."""

import logging
import random
import time
import uuid
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, connection

from jobs import claims
from jobs.calls import OutOfTime
from jobs.claims import Charge, Claim, KillsItsWorker, LeaseLost, OutsideAway, SnapshotMoved
from jobs.enqueue import wake
from jobs.flows import get_flow
from jobs.renewing import renewing
from memoryproject.ai import breaker
from memoryproject.ai.breaker import BreakerOpen
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.process import forks, logs, traces
from memoryproject.tenancy.walls import acting_for

logger = logging.getLogger("memory.jobs")

BACKOFF_FIRST = timedelta(seconds=5)
BACKOFF_LAST = timedelta(minutes=15)
GOES_ON_S = 5.0
"""Seconds that a wake-up continues with other jobs; less than `calls.MARGIN_S` leaves."""
SHARE_IN_ORDER = 1 / 8
"""Share of the runs that take the oldest job, so that interactive jobs cannot delay background work
forever."""


def run_next(job_id: str) -> bool:
    """Run the next job; return whether there was one. Never raises, as `run_job`.

    A wake-up in the queue calls this with the id of its job. Wake-ups are first in, first out, but
    the next job is chosen when a worker is free. It continues with further jobs for some seconds:
    their wake-ups may have been used up by reserve workers that were not allowed to take them.
    """
    until = time.monotonic() + GOES_ON_S
    has_run = _run(job_id, _claim_next)
    goes_on = has_run
    while goes_on:
        if time.monotonic() >= until:
            wake(uuid.UUID(job_id))
            break
        goes_on = _run(job_id, _claim_next)
    return has_run


def _claim_next() -> Claim | None:
    return claims.claim_next(in_order=random.random() < SHARE_IN_ORDER, holder=forks.cluster)


def run_job(job_id: str) -> bool:
    """Run the job if it is due and nobody holds it; return whether it ran.

    It never raises: an exception's text may hold what somebody said, and the queue would
    store it.
    """
    return _run(job_id, lambda: claims.claim(uuid.UUID(job_id), holder=forks.cluster))


def _run(job_id: str, take: Callable[[], Claim | None]) -> bool:
    try:
        claim = take()
    except (DatabaseError, InterfaceError) as error:
        logger.warning("job %s not claimed: %s", job_id, type(error).__name__)
        return False
    if claim is None:
        return False
    run_claimed(claim)
    return True


def run_claimed(claim: Claim) -> None:
    """Run a claimed job; whatever fails, the job is done or given back. Never raises."""
    bound = logs.bind(job=claim.id, kind=claim.kind, tenant=claim.tenant.id)
    traced = traces.span(
        f"job {claim.kind}", {traces.STORE: str(claim.tenant.id)}, kind="consumer", carrier={}
    )
    with acting_for(claim.tenant.id), bound, traced:
        _run_flow(claim)


def _run_flow(claim: Claim) -> None:
    try:
        with renewing(claim):
            if claim.attempts > claims.CRASHES_AT_MOST:
                raise KillsItsWorker(str(claim.id))
            flow = get_flow(claim.kind)
            if settings.LLM != "offline" and flow.asks_model:
                breaker.check(breaker.find_chat_model())
            flow.run(claim)
        logger.info("job done")
    except Exception as error:
        _settle(claim, error)


def _settle(claim: Claim, error: Exception) -> None:
    """Give a failed job back, to be retried after a time that fits the failure."""
    logger.warning("job failed", extra=logs.describe_error(error))
    traces.describe({"error.type": type(error).__name__})
    traces.mark_failed()
    if isinstance(error, LeaseLost):
        return
    wait, charge = judge_failure(claim, error)
    try:
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()  # it may have broken, or lead to a standby
        lines = error.lines if isinstance(error, ModelUnavailable) and error.timed_out else 0
        if claims.release(claim, error=error, after=wait, charge=charge, lines_too_many=lines):
            get_flow(claim.kind).on_death(claim.tenant, claim.scope)
        elif isinstance(error, (SnapshotMoved, OutOfTime)):
            wake(claim.id)
    except (DatabaseError, InterfaceError) as failure:
        # The lease ends by itself; the reconciler wakes the job then.
        logger.warning("job %s not released: %s", claim.id, type(failure).__name__)


def judge_failure(claim: Claim, error: Exception) -> tuple[timedelta, Charge]:
    """Return how long a job waits after a failure, and how the failure counts."""
    if isinstance(error, (SnapshotMoved, OutOfTime)):
        return timedelta(0), Charge.NOTHING
    if isinstance(error, BreakerOpen):
        # Long: when the model is back, the reconciler calls everybody.
        return BACKOFF_LAST * random.random(), Charge.NOTHING
    if isinstance(error, ModelUnavailable):
        wait = backoff(claim.transient_failures)
        if error.retry_after_s is not None:
            wait = max(wait, timedelta(seconds=error.retry_after_s))
        return wait, Charge.FAILURE if type(error) is ModelUnavailable else Charge.NOTHING
    if isinstance(error, ModelMisbehaved | OutsideAway) or is_of_the_database(error):
        # Only the embedding model's error gets here; nothing can be done without it.
        return backoff(claim.transient_failures), Charge.FAILURE
    return backoff(claim.attempts), Charge.ATTEMPT


def backoff(failures: int) -> timedelta:
    """Return a random wait up to a limit that doubles with each failure (full jitter)."""
    bound = min(BACKOFF_LAST, BACKOFF_FIRST * (1 << min(failures, 12)))
    return bound * random.random()


def is_of_the_database(error: Exception) -> bool:
    """Return whether the database was unavailable, or unusable, as during an upgrade."""
    ours = isinstance(error, (DataError, IntegrityError))
    return isinstance(error, (DatabaseError, InterfaceError)) and not ours
