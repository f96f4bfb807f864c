"""Claims jobs on several connections, and times what else looks at all jobs."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from random import Random
from statistics import median

from jobs import backlog, claims, reconciler
from jobs.enqueue import enqueue
from jobs.models import Kind
from jobs.tasks import SHARE_IN_ORDER
from memoryproject.tenancy.walls import acting_for

Figures = tuple[list[float], int]
"""Seconds of each claim, and how many came back without a job."""
WARM_S = 2.0


def work(threads: int, number: int, *, seconds: float, hold_s: float) -> Figures:
    """Claim and finish jobs on several connections; the first claim of each is not counted."""
    seeds = range(threads * number, threads * (number + 1))
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(partial(_claim, seconds=seconds, hold_s=hold_s), seeds))
    return [second for own, _ in parts for second in own], sum(empty for _, empty in parts)


def _claim(seed: int, *, seconds: float, hold_s: float) -> Figures:
    random = Random(seed)
    took: list[float] = []
    empty = 0
    starts = time.monotonic() + WARM_S + hold_s * random.random()
    claims.claim_next()
    time.sleep(max(0.0, starts - time.monotonic()))
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        started = time.perf_counter()
        claim = claims.claim_next(in_order=random.random() < SHARE_IN_ORDER)
        took.append(time.perf_counter() - started)
        time.sleep(hold_s * (0.5 + random.random()))
        if claim is None:
            empty += 1
            continue
        with acting_for(claim.tenant.id):
            with claims.commit(claim):
                pass
            enqueue(tenant=claim.tenant, kind=Kind.EMBED, scope=uuid.uuid4())
    return took, empty


def time_looks() -> tuple[float, float]:
    """Return the milliseconds of a round of the reconciler, and of what health asks."""
    return _time(reconciler.reconcile), _time(_look_into_backlog)


def _look_into_backlog() -> None:
    backlog.explain_standstill()
    backlog.measure_backlog()


def _time(look: Callable[[], object]) -> float:
    took = []
    for _ in range(3):
        started = time.perf_counter()
        look()
        took.append(1000 * (time.perf_counter() - started))
    return median(took)
