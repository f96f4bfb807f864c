"""django-q2's cluster, made to fail as a whole.

A process of the cluster that dies suddenly can leave a queue's lock taken for ever; the
cluster then looks healthy and does nothing. So any sudden death kills the whole tree, and
the supervisor starts a new one: jobs survive that, since their truth is a table.
"""

import ctypes
import logging
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable
from typing import Any

import django_q.cluster

from memoryproject.process.logs import describe_error

logger = logging.getLogger("memory.worker")

PR_SET_PDEATHSIG = 1
TIMED_OUT, RECYCLED = 0, -2
FLUSH_S = 5


def die_with_parent(parent: int) -> None:
    """Make the kernel kill this process when its parent dies; Linux only.

    The parent may have died between the fork and the call, hence the second look.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def run_cluster() -> None:
    """Run a cluster in this process until it is told to stop; call it in a session of its own."""
    FailFastSentinel(Flag(), Flag(), uuid.uuid4())


class Flag:
    """An event that a signal's handler may set: it takes no lock."""

    _is_set = False

    def is_set(self) -> bool:
        """Return whether it was set."""
        return self._is_set

    def set(self) -> None:
        """Set it."""
        self._is_set = True

    def wait(self, timeout: float) -> bool:
        """Wait, and return whether it is set."""
        time.sleep(timeout)
        return self._is_set


class FailFastSentinel(django_q.cluster.Sentinel):  # type: ignore[misc]
    """Watches the cluster's processes, and takes all down where one dies suddenly.

    django-q2 gives it a process of its own, beside one that only waits for it.
    """

    def __init__(self, stop: Flag, started: Flag, cluster_id: uuid.UUID) -> None:
        super().__init__(stop, started, cluster_id, start=False)
        signal.signal(signal.SIGTERM, lambda signum, frame: stop.set())
        self.start()

    def spawn_process(self, target: Callable[..., Any], *given: Any) -> Any:
        """Start a process that dies with the sentinel."""
        sentinel = os.getpid()

        def run(*inner: Any) -> Any:
            die_with_parent(sentinel)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            try:
                return target(*inner)
            except Exception as error:
                # Python would print the text of it.
                logger.critical("a process of the cluster failed", extra=describe_error(error))
                sys.exit(1)

        process = django_q.cluster.get_mp_context().Process(target=run, args=given)
        process.daemon = True
        if target is django_q.cluster.worker:
            process.daemon = django_q.cluster.Conf.DAEMONIZE_WORKERS
            process.timer = given[2]
            self.pool.append(process)
        process.start()
        return process

    def reincarnate(self, process: Any) -> None:
        """Replace a process that ended as planned; end everything for one that did not."""
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
