"""Forks processes from one that has loaded everything, so that they share its memory."""

import ctypes
import logging
import multiprocessing
import os
import signal
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.context import ForkProcess

from django.db import connections

from memoryproject.process.logs import describe_error

logger = logging.getLogger("memory.process")

cluster: uuid.UUID | None = None
"""Cluster of workers that this process belongs to; set once, before it has workers."""
PR_SET_PDEATHSIG = 1
TO_END = (signal.SIGINT, signal.SIGTERM)


def fork(work: Callable[[], object]) -> ForkProcess:
    """Run the function in a new process and session; the process dies with this one."""
    connections.close_all()
    begun = partial(begin, work, parent=os.getpid(), apart=True)
    process = multiprocessing.get_context("fork").Process(target=begun)
    # One that came before the process has handlers of its own would be lost in ours.
    signal.pthread_sigmask(signal.SIG_BLOCK, TO_END)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, TO_END)
    return process


def kill(process: ForkProcess) -> None:
    """Kill a process with its whole session; only the process if it has no session yet."""
    process.kill()
    if process.pid:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.join()


def begin(work: Callable[[], object], *, parent: int, apart: bool) -> None:
    """Run a forked process's function; log an error without its text."""
    for name in TO_END:
        signal.signal(name, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, TO_END)
    if apart:
        os.setsid()
    die_with_parent(parent)
    try:
        work()
    except Exception as error:
        # Python would print the text of it.
        logger.critical("a process failed", extra=describe_error(error))
        sys.exit(1)


def die_with_parent(parent: int) -> None:
    """Make the kernel kill this process when its parent dies; Linux only.

    The parent may have died between the fork and the call, hence the second look.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
