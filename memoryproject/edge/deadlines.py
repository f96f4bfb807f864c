"""The deadline of a request, and whether its client still waits."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from threading import Lock

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections

from memoryproject.edge.errors import Unavailable
from memoryproject.process.scopes import get_work, working

LATE = "The answer took longer than a request may; ask for less, or try again soon."


class Work:
    """A request that one thread answers while another watches whether its client waits."""

    def __init__(self, *, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self._lock = Lock()
        self._database: object | None = None
        """The connection of the answering thread; None before and after."""

    @property
    def left_s(self) -> float:
        """Return the remaining seconds; 0 or less: it is late, or nobody waits."""
        return self._ends - time.monotonic()

    @contextmanager
    def begin(self) -> Iterator[None]:
        """Answer in this thread: `check` and database statements follow this deadline."""
        with working(deadline=self), self.watching(connections[DEFAULT_DB_ALIAS]):
            yield

    def extend(self, seconds: float) -> None:
        """Allow the answer more time, unless nobody waits any more."""
        self._ends += seconds

    def cancel(self) -> None:
        """Note that nobody waits any more, and stop the statement that is running for it."""
        self._ends = 0.0
        with self._lock:
            running = getattr(self._database, "connection", None)
            if running is not None:
                with suppress(psycopg.Error):
                    running.cancel_safe(timeout=1)

    @contextmanager
    def watching(self, database: object | None) -> Iterator[None]:
        """Within the block, a cancel stops statements on `database`; None: it stops none."""
        with self._lock:  # no cancel that has begun reaches what comes now
            self._database, before = database, self._database
        try:
            yield
        finally:
            with self._lock:
                self._database = before


def _find_work() -> Work | None:
    work: Work | None = get_work().deadline
    return work


def check() -> None:
    """Raise if the time is over or nobody waits.

    Raises:
        Unavailable: the time is over, or nobody waits.
    """
    work = _find_work()
    if work is not None and work.left_s <= 0:
        raise Unavailable(LATE)


def extend(seconds: float) -> None:
    """Allow the request of this thread more time than others have."""
    work = _find_work()
    if work is not None:
        work.extend(seconds)


@contextmanager
def outlasting() -> Iterator[None]:
    """Within the block, statements run to their end, even past the deadline."""
    with watching(None), working(deadline=None):
        yield


def left_ms() -> int | None:
    """Return the milliseconds left for this thread's request, at least 1; None: no limit."""
    work = _find_work()
    return None if work is None else max(1, int(1000 * work.left_s))


def watching(database: object | None) -> AbstractContextManager[None]:
    """Within the block, a cancel stops this thread's statements on `database`; None: none."""
    work = _find_work()
    return work.watching(database) if work else nullcontext()
