"""Keeps one cluster of workers alive, and reconciles beside it."""

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

from jobs import claims, cluster
from jobs.backlog import explain_standstill
from jobs.reconciler import reconcile
from memoryproject.process.forks import fork, kill

Result = TypeVar("Result")

logger = logging.getLogger("memory.worker")

RECONCILE_EVERY_S = 4.0
LOOK_EVERY_S = 0.25
RESTART_FIRST_S, RESTART_LAST_S = 0.3, 10.0
HEALTHY_AFTER_S = 30.0
DRAIN_S = min(settings.JOB_TIMEOUT_S, 150) + 10


class Supervisor:
    """Runs the workers of this machine, in a session of their own, until told to stop."""

    def __init__(self, *, is_over: Callable[[], bool] = lambda: False) -> None:
        self._told_to_stop = False
        self._is_over = is_over

    @property
    def _stopping(self) -> bool:
        return self._told_to_stop or self._is_over()

    def run(self) -> None:
        """Start, watch and restart the cluster; return after a signal to end, or when `is_over`."""
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        wait = RESTART_FIRST_S
        while not self._stopping:
            started = time.monotonic()
            cluster_id = uuid.uuid4()
            process = fork(partial(cluster.run_cluster, cluster_id))
            try:
                logger.info("cluster %s started as process %s", cluster_id, process.pid)
                self._watch(process)
                if self._stopping:
                    process.terminate()
                    process.join(timeout=DRAIN_S)  # running jobs may finish
                    return
            finally:  # also after an error: Python would wait for the cluster before it ends
                kill(process)
            # Nobody of them lives to renew or to write: their jobs need not wait.
            _try(partial(claims.let_go, cluster_id))
            wait = RESTART_FIRST_S if time.monotonic() - started > HEALTHY_AFTER_S else wait * 2
            wait = min(wait, RESTART_LAST_S)
            logger.warning("workers ended suddenly; starting them again")
            self._sleep(wait)

    def _stop(self, signum: int, frame: FrameType | None) -> None:
        self._told_to_stop = True

    def _watch(self, process: ForkProcess) -> None:
        """Return when the cluster ended or must end; reconcile meanwhile."""
        next_run = 0.0
        next_look = time.monotonic() + HEALTHY_AFTER_S
        while process.is_alive() and not self._stopping:
            if time.monotonic() >= next_run:
                _try(reconcile)
                next_run = time.monotonic() + RECONCILE_EVERY_S
            if time.monotonic() >= next_look:
                why = _try(explain_standstill)
                if why:
                    logger.error("%s: ending the workers", why)
                    return
                next_look = time.monotonic() + HEALTHY_AFTER_S
            time.sleep(LOOK_EVERY_S)

    def _sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self._stopping:
            time.sleep(LOOK_EVERY_S)


def _try(work: Callable[[], Result]) -> Result | None:
    """Do the work; a database that is away is met again at the next round."""
    try:
        return work()
    except (DatabaseError, InterfaceError) as error:
        logger.warning("reconciler: %s", type(error).__name__)
        connections.close_all()
        return None
