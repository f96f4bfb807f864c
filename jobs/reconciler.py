"""Wakes jobs after lost wake-ups and ended leases, and runs the wings' chores.

It only creates rows that the partial unique indexes permit, so it may run anywhere and at any time;
only one does the work at a time.
"""

import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models import Case, Func, IntegerField, Max, Q, TextField, Value, When
from django.db.models.functions import Cast, Now
from django.utils import timezone
from django_q.models import OrmQ

from jobs import turns
from jobs.enqueue import wake
from jobs.models import WAITS_UNTIL, Job, State
from memoryproject.ai.breaker import FREE, BreakerOpen, find_models_away
from memoryproject.ai.errors import ModelUnavailable, OperatorFault
from memoryproject.ai.models import Breaker
from memoryproject.database.clock import execute, read_database_clock
from memoryproject.tenancy.walls import across_tenants
from memoryproject.wings import list_wings

AT_MOST = 200
SOON = timedelta(seconds=10)
CALLED_WITHIN = timedelta(seconds=30)
"""Longest time over which jobs are restarted after an outage, rather than all at once."""
CALL_EVERY = timedelta(seconds=0.2)
WAITS_FOR_MODEL = (BreakerOpen.__name__, ModelUnavailable.__name__, OperatorFault.__name__)
LOCK = 0x6D656D6F7279
"""Advisory lock of the reconciler: only one runs at a time."""


@across_tenants()
def reconcile() -> int:
    """Wake due jobs and run the wings' chores; return how many jobs were woken."""
    with transaction.atomic():
        if execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK]) == [(False,)]:
            return 0
        for wing in list_wings():
            for chore in wing.chores:
                chore(at_most=AT_MOST)
        _call_back()
        return _wake_due_jobs()


@across_tenants()
def due_jobs() -> list[uuid.UUID]:
    """Return ids of some claimable jobs, the longest waiting first."""
    due = Job.across_tenants.filter(turns.may_be_claimed()).order_by("run_after", "id")
    return list(due.values_list("id", flat=True)[:AT_MOST])


def _call_back() -> None:
    """Let jobs that wait for a model continue when it is back; one of them tests it.

    Otherwise they wait long, so that an outage does not keep the workers busy.
    """
    waiting = Job.across_tenants.filter(error_class__in=WAITS_FOR_MODEL)
    breakers = find_models_away()
    if not breakers.exists():
        ended = Breaker.objects.aggregate(last=Max("closed_at"))["last"]
        called = Q(error_class__in=[BreakerOpen.__name__, OperatorFault.__name__])
        if ended is not None:
            called |= Q(error_class=ModelUnavailable.__name__, started_at__lt=ended)
        for state, until in WAITS_UNTIL.items():
            late = waiting.filter(called, **{"state": state, f"{until}__gt": Now() + CALLED_WITHIN})
            within = min(CALLED_WITHIN, CALL_EVERY * late.count())
            # By its id, to a moment: Citus takes neither random() nor now() + wait in an UPDATE.
            place = Func(Cast("id", TextField()), function="hashtext", output_field=IntegerField())
            share = place.bitand(2**31 - 1) * Value(within.total_seconds() / 2**31)
            moment = Value(read_database_clock().timestamp()) + share
            late.update(**{until: Func(moment, function="to_timestamp")})
    elif breakers.filter(FREE, open_until__lte=Now()).exists():
        # Any of them, as one may be what the model dies of; those that timed out come last.
        slow = [scope for row in breakers for scope in row.timed_out_scopes]
        last = Case(When(scope__in=slow, then=Value(1)), default=Value(0))
        ordered = waiting.filter(state__in=WAITS_UNTIL).annotate(last=last).order_by("last", "?")
        probe = ordered.first()
        if probe is not None:
            row = waiting.filter(id=probe.id, state=probe.state)
            row.update(**{WAITS_UNTIL[State(probe.state)]: Now()})


def _wake_due_jobs() -> int:
    """Wake each due job without a wake-up, so that the queue is as short as the work."""
    ids = due_jobs()
    # One that a worker has taken stays in the table, its lock minutes ahead by that worker's
    # clock, also when he is dead. Ours is the clock of the workers beside us, and they take
    # none whose time has not come by it.
    if OrmQ.objects.filter(lock__lte=timezone.now() + SOON).count() >= len(ids):
        return 0
    for job_id in ids:
        wake(job_id)
    return len(ids)
