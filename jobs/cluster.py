"""django-q2's cluster, changed so that it fails as a whole.

A process that dies suddenly can leave a queue locked forever; the cluster then looks healthy and
does nothing. So any sudden death kills all of its processes, and the supervisor starts a new
cluster: jobs survive that, since they are stored in a table.
"""

import os
import signal
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any

import django_q.cluster
from django.conf import settings

from memoryproject import embedded
from memoryproject.process import forks

NICENESS = 5
"""Niceness of workers: requests come first if processors are scarce."""
TIMED_OUT, RECYCLED = 0, -2
FLUSH_S = 5


def run_cluster(cluster_id: uuid.UUID) -> None:
    """Run a cluster in this process until it is told to stop; call it in a session of its own."""
    if settings.EMBEDDED_POSTGRES:  # a server that was killed is nobody else's to start again
        embedded.ensure_started(settings.DATA_DIR)
    os.nice(NICENESS)
    with suppress(OSError):  # Linux compares sessions first; this process leads one
        Path("/proc/self/autogroup").write_text(str(NICENESS), encoding="ascii")
    forks.cluster = cluster_id
    FailFastSentinel(Flag(), Flag(), cluster_id)


class Flag:
    """An event that a signal handler may set: it takes no lock."""

    _is_set = False

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True

    def wait(self, timeout: float) -> bool:
        time.sleep(timeout)
        return self._is_set


class Helper(threading.Thread):
    """django-q2's monitor or pusher, run as a thread of the sentinel instead of as a process."""

    def __init__(self, target: Callable[..., Any], *given: Any) -> None:
        # The rows that the sentinel may see: a new thread starts without them.
        super().__init__(target=copy_context().run, args=(target, *given), daemon=True)

    @property
    def pid(self) -> int:
        return os.getpid()


class FailFastSentinel(django_q.cluster.Sentinel):  # type: ignore[misc]
    """Watches the cluster's processes, and kills all of them if one dies suddenly.

    django-q2 runs monitor and pusher, which mostly wait, as processes of 10 MB each; here they are
    threads.
    """

    def __init__(self, stop: Flag, started: Flag, cluster_id: uuid.UUID) -> None:
        super().__init__(stop, started, cluster_id, start=False)
        signal.signal(signal.SIGTERM, lambda signum, frame: stop.set())
        self.start()

    def spawn_process(self, target: Callable[..., Any], *given: Any) -> Any:
        """Start a worker (a process that dies with the sentinel) or one of the helpers."""
        if target is not django_q.cluster.worker:
            helper = Helper(self._help, target, *given)
            helper.start()
            return helper
        begin = partial(forks.begin, partial(target, *given), parent=os.getpid(), apart=False)
        process = django_q.cluster.get_mp_context().Process(target=begin)
        process.daemon = django_q.cluster.Conf.DAEMONIZE_WORKERS
        process.timer = given[2]
        self.pool.append(process)
        process.start()
        return process

    def _help(self, target: Callable[..., Any], *given: Any) -> None:
        """Run a helper until the cluster stops, which closes the queue that the monitor reads."""
        try:
            target(*given)
        except (OSError, TypeError):
            if not self.stop_event.is_set():
                raise

    def reincarnate(self, process: Any) -> None:
        """Replace a process that ended as planned; for any other end, end everything."""
        planned = process not in (self.monitor, self.pusher) and self._ended_as_planned(process)
        if planned:
            super().reincarnate(process)
        else:
            os.killpg(os.getpgid(0), signal.SIGKILL)

    def _ended_as_planned(self, process: Any) -> bool:
        timer = int(process.timer.value)
        if timer == RECYCLED:
            return True
        if timer != TIMED_OUT:
            return False
        process.join(FLUSH_S)  # let it hand over its result, or the queue stays locked
        return not process.is_alive()
