"""Keeps one cluster of workers running, and runs the reconciler."""

import logging
import signal
import time
import uuid
from collections.abc import Callable
from functools import partial
from multiprocessing.context import ForkProcess
from types import FrameType
from typing import TypeVar

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connections

from jobs import claims, cluster, liveness
from jobs.backlog import explain_standstill, is_held, note_restart
from jobs.reconciler import reconcile
from memoryproject.process.forks import fork, kill

Result = TypeVar("Result")

logger = logging.getLogger("memory.worker")

RECONCILE_EVERY_S = 4.0
LOOK_EVERY_S = 0.25
RESTART_FIRST_S, RESTART_LAST_S = 0.3, 5.0
HEALTHY_AFTER_S = 30.0
LOOK_AT_WORK_EVERY_S = 15.0
SETTLED_AFTER_S = 60.0
"""Seconds after their start within which workers need not have claimed anything."""
END_WORKERS_EVERY_S = 15 * 60.0
"""Seconds between two restarts of workers: another one will not help any sooner."""
DRAIN_S = min(settings.JOB_TIMEOUT_S, 150) + 10


class Supervisor:
    """Runs the workers of this machine, in a session of their own, until it is stopped."""

    def __init__(self, *, is_over: Callable[[], bool] = lambda: False) -> None:
        self._told_to_stop = False
        self._is_over = is_over
        self._may_end_workers_at = 0.0

    @property
    def _stopping(self) -> bool:
        return self._told_to_stop or self._is_over()

    def run(self) -> None:
        """Start, watch and restart the cluster; return after a stop signal, or when `is_over`."""
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        wait = RESTART_FIRST_S
        while not self._stopping:
            started = time.monotonic()
            cluster_id = uuid.uuid4()
            with liveness.marking(cluster_id):
                process = fork(partial(cluster.run_cluster, cluster_id))
                try:
                    logger.info("cluster %s started as process %s", cluster_id, process.pid)
                    self._watch(process, cluster_id)
                    if self._stopping:
                        process.terminate()
                        process.join(timeout=DRAIN_S)  # running jobs may finish
                        return
                finally:  # also after an error: Python would wait for the cluster before it ends
                    kill(process)
            had_work = _try(partial(claims.let_go, cluster_id))  # nobody of them lives to write
            is_well = had_work or time.monotonic() - started > HEALTHY_AFTER_S
            wait = RESTART_FIRST_S if is_well else min(wait * 2, RESTART_LAST_S)
            logger.warning("workers ended suddenly; starting them again")
            self._sleep(wait)

    def _stop(self, signum: int, frame: FrameType | None) -> None:
        self._told_to_stop = True

    def _watch(self, process: ForkProcess, cluster_id: uuid.UUID) -> None:
        """Return when the cluster has ended or must end; run the reconciler meanwhile."""
        next_run = 0.0
        next_look = time.monotonic() + SETTLED_AFTER_S
        while process.is_alive() and not self._stopping:
            if time.monotonic() >= next_run:
                _try(let_go_of_dead)
                _try(reconcile)
                next_run = time.monotonic() + RECONCILE_EVERY_S
            if time.monotonic() >= max(next_look, self._may_end_workers_at):
                if _try(partial(find_reason_to_end, cluster_id)):
                    self._may_end_workers_at = time.monotonic() + END_WORKERS_EVERY_S
                    return
                next_look = time.monotonic() + LOOK_AT_WORK_EVERY_S
            time.sleep(LOOK_EVERY_S)

    def _sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self._stopping:
            time.sleep(LOOK_EVERY_S)


def let_go_of_dead() -> int:
    """End the leases of this machine's dead clusters; return how many there were.

    None of their processes lives to renew or to write, so their jobs need not wait.
    """
    count = 0
    for cluster_id in liveness.list_dead():
        count += claims.let_go(cluster_id)
        liveness.forget(cluster_id)
    return count


def find_reason_to_end(cluster_id: uuid.UUID) -> str:
    """Return why a cluster's workers must be restarted, and record it; empty: no reason.

    Never while a valid lease exists: a restart only helps workers that claim nothing at all, such
    as behind a queue that a dead process has locked.
    """
    why = explain_standstill()
    if not why or is_held():
        return ""
    logger.error("%s: ending the workers", why)
    note_restart(cluster=cluster_id, reason=why)
    return why


def _try(work: Callable[[], Result]) -> Result | None:
    """Run the function; if the database is unavailable, the next round tries again."""
    try:
        return work()
    except (DatabaseError, InterfaceError) as error:
        logger.warning("reconciler: %s", type(error).__name__)
        connections.close_all()
        return None
