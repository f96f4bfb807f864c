"""Claims jobs, and writes their effects exactly once.

A run first claims its job in a transaction of its own: the attempt is durable before the work. It
then works outside any transaction, and finally writes everything in one commit that checks the
lease token. A run whose lease has expired finds another token and writes nothing.
"""

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from enum import Enum, auto
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest, Now

from jobs import turns
from jobs.enqueue import wake
from jobs.flows import get_flow
from jobs.models import Job, State
from memoryproject.database.clock import execute
from memoryproject.process.crash_points import Point, pass_point
from memoryproject.tenancy.walls import across_tenants
from memoryproject.wings import list_wings

LIMITS = (
    "SELECT set_config('lock_timeout', '10s', true), set_config('statement_timeout', '60s', true)"
)
"""Time limits of effects: waiting for a lock, and running one statement."""
LEASE = timedelta(seconds=30)
"""Time for which a silent holder keeps a job. `renewing` extends the lease of a living one."""
CALL_MARGIN_S = 5
"""Seconds by which a lease exceeds the deadline of a model call, to write its result."""
ASKS_FOR_VECTORS = "openai" in (settings.EMBEDDINGS, settings.OLD_EMBEDDINGS)
STEP = timedelta(
    seconds=max(60, settings.MODEL_TIMEOUT_S + CALL_MARGIN_S if ASKS_FOR_VECTORS else 0)
)
"""Longest time between two signs of progress of a run: claim, commits, model calls."""
MAX_ATTEMPTS = 5
HALVING_ATTEMPTS = 15
"""Number of attempts that halving never needs: after these, the fault is elsewhere."""
CRASHES_AT_MOST = 15
"""Number of runs of one job that may end their process, before the job dies."""
HALVE_AFTER = 3
"""Attempts at a whole batch; each later one takes half of it."""
LINES_AT_MOST = "lines_at_most"
"""Key in a job's input: messages per question, after a model has not answered in time."""
FEWEST_LINES = 5
RELEASED = {"lease_token": None, "lease_until": None}
SLOW_FOR = timedelta(hours=1)
"""Age up to which a job that timed out limits the messages per question of its scope's jobs."""


class LeaseLost(Exception):
    """Another worker holds the job now; nothing was written."""


class TooMuchPoison(Exception):
    """A job has set aside so much that the fault lies elsewhere: it dies, for people to see."""


class KillsItsWorker(Exception):
    """Several runs of the job ended with their process: it dies before it ends another."""


class SnapshotMoved(Exception):
    """The data that the run read has changed; nothing was written, run again."""


class OutsideAway(Exception):
    """An outside service is unavailable: no such failure costs an attempt."""


class Charge(Enum):
    """How a failed run counts for its job."""

    ATTEMPT = auto()
    """As one of a few attempts: the fault may be the job's own."""
    FAILURE = auto()
    """As a failure of an outside service: waits grow, but the job does not die of it."""
    NOTHING = auto()
    """Not at all: it was not its turn."""


Claim = Job
"""A running job, as its holder claimed it, with the token needed to write.

`attempts` counts this run and the failed ones before it.
"""


@across_tenants()
def claim(job_id: uuid.UUID, *, holder: uuid.UUID | None = None) -> Claim | None:
    """Claim the job if it is due; None if it is not, or if another job holds its scope.

    `holder` is the cluster whose worker takes it.
    """
    return _claim(lambda: turns.find_free(job_id), holder)


@across_tenants()
def claim_next(*, in_order: bool = False, holder: uuid.UUID | None = None) -> Claim | None:
    """Claim the next job, see `turns.find_next`; None if there is none."""
    return _claim(lambda: turns.find_next(in_order=in_order, cluster=holder), holder)


def _claim(find: Callable[[], uuid.UUID | None], holder: uuid.UUID | None) -> Claim | None:
    """Mark the job that `find` finds and locks as running, and return it."""
    token = uuid.uuid4()
    try:
        with transaction.atomic():
            job_id = find()
            if job_id is None or not turns.wait_for_lane(job_id):
                return None
            Job.across_tenants.filter(id=job_id).update(
                state=State.RUNNING,
                attempts=F("attempts") + 1,
                lease_token=token,
                lease_until=Now() + LEASE,
                busy_until=Now() + STEP,
                holder=holder,
                started_at=Now(),
                error_class="",
            )
            pass_point(Point.CLAIM_WRITTEN)
    except IntegrityError:
        return None  # another job of the scope was claimed at the same moment
    pass_point(Point.CLAIMED)
    rows = Job.across_tenants.select_related("tenant").annotate(age=Now() - F("created_at"))
    # Also by token: a slow worker must not take a job that another holds by now.
    job = rows.filter(id=job_id, lease_token=token).first()
    if job is not None:
        job.waited = job.age
        job.lines_at_most = _find_lines_at_most(job)
        job.run_until = time.monotonic() + settings.FLUSH_AT_MOST_S
    return job


def _find_lines_at_most(job: Job) -> int | None:
    """Return the messages per question that timeouts of the job, or of its scope, suggest.

    Uses index: jobs_job_by_scope.
    """
    slow = Job.objects.of(job.tenant).filter(
        Q(id=job.id) | Q(created_at__gt=Now() - SLOW_FOR),
        scope=job.scope,
        input__has_key=LINES_AT_MOST,
    )
    return min((each[LINES_AT_MOST] for each in slow.values_list("input", flat=True)), default=None)


@contextmanager
def commit(
    claim: Claim,
    *,
    finish: bool = True,
    result: dict[str, int] | None = None,
    searching: bool = False,
) -> Iterator[None]:
    """Write the job's effects in one transaction; with `finish`, mark the job as done.

    Without `finish` the job goes on, and its failed attempts are reset, unless it is still
    `searching`, by halving, for the item that it fails on.

    Lock order, the same everywhere: the caller's scope row first (inside the block's first
    statement, by `lock_scope` of its domain), then the job row, checked last, then nothing. The
    check comes at the end, so that a lease lost during the writes undoes them too.

    Raises:
        LeaseLost: the token is no longer ours; nothing was written.
    """
    with transaction.atomic():
        execute(LIMITS)
        yield
        pass_point(Point.EFFECTS_WRITTEN)
        if finish:
            changed = held(claim).update(
                state=State.DONE, finished_at=Now(), result=result or {}, **RELEASED
            )
        else:
            claim.attempts = claim.attempts if searching else 1
            changed = held(claim).update(
                lease_until=Now() + LEASE, busy_until=Now() + STEP, attempts=claim.attempts
            )
        if changed != 1:
            raise LeaseLost(str(claim.id))
        pass_point(Point.LEASE_CHECKED)
    pass_point(Point.COMMITTED)


def release(
    claim: Claim, *, error: BaseException, after: timedelta, charge: Charge, lines_too_many: int = 0
) -> bool:
    """Give a failed job back, to run again `after` a while; return whether it died.

    `lines_too_many` is the number of messages in a question that the model did not answer in time:
    from then on half as many are used. If the lease is lost, nothing happens: another worker has
    the job.
    """
    pass_point(Point.RELEASING)
    name = type(error).__name__
    is_lost_cause = isinstance(error, (TooMuchPoison, KillsItsWorker))
    is_last = is_lost_cause or claim.attempts >= attempts_at_most(claim.kind)
    if charge is Charge.ATTEMPT and is_last:
        with transaction.atomic():
            died = held(claim).update(
                state=State.DEAD, finished_at=Now(), error_class=name, **RELEASED
            )
            for wing in list_wings() if died else ():
                wing.on_death(claim)
        return died == 1
    changes = wait_again(claim, after)
    if lines_too_many:
        fewer = max(FEWEST_LINES, lines_too_many // 2)
        changes["input"] = claim.input | {LINES_AT_MOST: fewer}
    held(claim).update(
        error_class=name,
        transient_failures=F("transient_failures") + int(charge is Charge.FAILURE),
        attempts=F("attempts") - int(charge is not Charge.ATTEMPT),
        **changes,
    )
    pass_point(Point.RELEASED)
    return False


def attempts_at_most(kind: str) -> int:
    """Return after how many failed runs a job of that kind dies."""
    return HALVING_ATTEMPTS if get_flow(kind).gives_up_by_halves else MAX_ATTEMPTS


def batch_size(full: int, *, attempts: int) -> int:
    """Return how much of a full batch a run takes; 0: set its first item aside.

    So after some attempts the item that breaks every run, even by killing the process, is alone,
    and the others are done.
    """
    return full if attempts <= HALVE_AFTER else full >> (attempts - HALVE_AFTER)


@across_tenants()
def let_go(holder: uuid.UUID) -> int:
    """End the leases of a cluster without living processes; return how many."""
    held = Job.across_tenants.filter(holder=holder, state=State.RUNNING)
    return held.update(lease_until=Now())


def renew(claim: Claim) -> bool:
    """Extend the lease; False if the job is no longer ours."""
    return held(claim).update(lease_until=Now() + LEASE) == 1


def expect(claim: Claim, seconds: float) -> None:
    """Record that a call begins that may take this long; until then the run is not stuck."""
    after = timedelta(seconds=seconds + CALL_MARGIN_S)
    held(claim).update(busy_until=Greatest("busy_until", Now() + after))


def holds(claim: Claim) -> bool:
    """Return whether the job is still ours, and lock its row against others until the end."""
    return held(claim).select_for_update(no_key=True).first() is not None


def hand_back(claim: Claim) -> None:
    """Give a job back that did part of its work, to continue in another run; not a failure."""
    attempts = Greatest(F("attempts") - 1, 0)
    held(claim).update(attempts=attempts, **wait_again(claim, timedelta(0)))
    wake(claim.id)


def hand_back_if_late(claim: Claim) -> bool:
    """Give a job back that has run long enough; return whether it did."""
    is_late = time.monotonic() >= claim.run_until
    if is_late:
        hand_back(claim)
    return is_late


def held(claim: Claim) -> QuerySet[Job]:
    """Return the job's row while the claim is valid, else nothing."""
    return Job.objects.of(claim.tenant).filter(
        id=claim.id, state=State.RUNNING, lease_token=claim.lease_token
    )


def wait_again(job: Job, after: timedelta) -> dict[str, Any]:
    """Return the columns of a job that may be claimed again after a while.

    Only one job of a kind and scope may be ready: if there is another, ours stays marked as
    running, under a token that nobody has.
    """
    ready = Job.objects.of(job.tenant).filter(kind=job.kind, scope=job.scope, state=State.READY)
    if ready.exists():
        return {"lease_until": Now() + after, "lease_token": uuid.uuid4()}
    return {"state": State.READY, "run_after": Now() + after, **RELEASED}
