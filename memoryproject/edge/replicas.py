"""Reads from replicas: which one answers, whether it is recent enough, and what if it fails.

`read` runs a read-only function. While it runs on a replica, the replica replaces this thread's
default connection: all statements see one server, and writes fail. If no replica can answer, the
primary does. Without replicas in the settings this costs no statement.
"""

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import count
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from django.db import (
    DEFAULT_DB_ALIAS,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    connections,
)
from django.http import HttpResponse
from psycopg.errors import QueryCanceled, SerializationFailure, UndefinedColumn, UndefinedTable

from memoryproject.database.clock import execute, read_sql
from memoryproject.edge import deadlines
from memoryproject.process import logs

logger = logging.getLogger("memory.replicas")
Result = TypeVar("Result")

PRIMARY = "primary"
COOKIE = "memory_position"
"""Cookie of the admin with the log position of the person's last change, which lists must show."""
WAIT_S = 0.1
"""Seconds to wait until a replica is recent enough; then the primary answers."""
POLL_S = 0.002
LOOK_S = 1.0
"""Seconds within which a replica must report its position; otherwise it counts as away."""
WORK_S = 30.0
"""Seconds to wait for a replica's statement; at most half of what the request has left."""
LEFT_OUT_S = 5.0
"""Seconds for which a replica that is away or too far behind is skipped."""

PASSING = QueryCanceled, SerializationFailure
"""Temporary errors of a healthy replica: a slow statement, or rows that vacuum removed."""

PRIMARY_LOOK = read_sql(__file__, "primary_position.sql")
REPLICA_LOOK = read_sql(__file__, "replica_position.sql")


class Stand(NamedTuple):
    """The primary's log position, its time and timeline, and the position that must be seen."""

    position: int
    now: datetime
    timeline: int
    since: int | None


class Replayed(NamedTuple):
    """The position of a replica; it may be None if the server is not a replica."""

    is_replica: bool
    position: int
    committed_at: datetime | None
    timeline: int


class Source(NamedTuple):
    """The server that answered, and how many seconds old its data may be."""

    name: str
    age_s: float


class NotRecent(Exception):
    """A replica is not recent enough; `is_behind`: by more than replicas may be."""

    def __init__(self, *, is_behind: bool) -> None:
        super().__init__()
        self.is_behind = is_behind


_turns = count()
_left_out: dict[str, float] = {}
"""Monotonic time at which a replica that was away may be tried again, by alias."""
_lock = Lock()


def read(
    work: Callable[[], Result], *, since: str, params: Sequence[Any], fresh: bool = False
) -> tuple[Result, Source | None]:
    """Return the result of the work, on a replica that is recent enough, or on the primary.

    Also return who answered; None: no choice.

    `since`: an SQL expression for the position that must be seen, NULL for none; `fresh`:
    everything committed by now must be seen. If a replica fails in the middle, the work runs again
    on the primary. Inside a transaction it always runs on the primary.
    """
    primary = connections[DEFAULT_DB_ALIAS]
    is_placed = primary.in_atomic_block or primary.alias != DEFAULT_DB_ALIAS
    if not settings.READ_DATABASES or is_placed:
        return work(), None
    stand = _ask_primary(since, params)
    # A position from before a restore may lie ahead of this log: then all that is there is needed.
    needed = stand.position if fresh else min(stand.since or 0, stand.position)
    for alias in _choose():
        try:
            age_s, result = _read_from(alias, work, stand, needed)
        except NotRecent as error:
            if error.is_behind:
                _leave_out(alias, error)
        except (OperationalError, InterfaceError, ProgrammingError) as error:
            if not _is_fault_of_replica(error):
                raise
            deadlines.check()
            if not isinstance(error.__cause__, PASSING):
                _leave_out(alias, error)
        else:
            return result, Source(alias, age_s)
    return work(), Source(PRIMARY, 0.0)


def _ask_primary(since: str, params: Sequence[Any]) -> Stand:
    return Stand(*execute(PRIMARY_LOOK.format(since=since), params)[0])


def _is_fault_of_replica(error: Exception) -> bool:
    """Return whether the primary may succeed: a replica may lack a new migration."""
    is_away = not isinstance(error, ProgrammingError)
    return is_away or isinstance(error.__cause__, (UndefinedColumn, UndefinedTable))


def _read_from(
    alias: str, work: Callable[[], Result], stand: Stand, needed: int
) -> tuple[float, Result]:
    replica: Any = connections[alias]
    age_s = _wait_for(replica, stand, needed)
    with _lock:
        _left_out.pop(alias, None)
    left_ms = deadlines.left_ms()
    replica.wait_s = WORK_S if left_ms is None else max(LOOK_S, left_ms / 2000)
    connections[DEFAULT_DB_ALIAS], primary = replica, connections[DEFAULT_DB_ALIAS]
    try:
        with deadlines.watching(replica):
            return age_s, work()
    finally:
        connections[DEFAULT_DB_ALIAS] = primary
        replica.wait_s = LOOK_S  # Django asks what failed whether it lives before the next request


def _wait_for(replica: Any, stand: Stand, needed: int) -> float:
    """Return how old the data of a replica may be, once it has what is needed.

    Raises:
        NotRecent: it is too late, or is not a replica of the primary.
    """
    until = time.monotonic() + WAIT_S
    while True:
        there = _look(replica)
        age_s = _find_age(there, stand)
        is_behind = age_s > settings.READ_AGE_SECONDS
        if not is_behind and (age_s == 0.0 or there.position >= needed):
            return age_s
        if time.monotonic() > until:
            raise NotRecent(is_behind=is_behind)
        time.sleep(POLL_S)


def _find_age(there: Replayed, stand: Stand) -> float:
    """Return how many seconds old a replica's data may be; infinite if it is no replica."""
    if not there.is_replica or there.timeline != stand.timeline:
        return math.inf
    if there.position >= stand.position:
        return 0.0
    age = stand.now - there.committed_at if there.committed_at else timedelta.max
    return max(0.0, age.total_seconds())


def _look(replica: Any) -> Replayed:
    """Ask a replica for its position; use a new connection if it has closed the old one."""
    was_open, started = replica.connection is not None, time.monotonic()
    try:
        return _ask(replica)
    except (OperationalError, InterfaceError):
        replica.close()
        if not was_open or time.monotonic() - started > LOOK_S / 2:
            raise
        return _ask(replica)


def _ask(replica: Any) -> Replayed:
    replica.wait_s = LOOK_S
    with replica.cursor() as cursor:
        cursor.execute(REPLICA_LOOK)
        return Replayed(*cursor.fetchone())


def _choose() -> Iterator[str]:
    """Yield the replicas to try, in rotation; skipped ones again after a while."""
    names = settings.READ_DATABASES
    first = next(_turns) % len(names)
    for alias in names[first:] + names[:first]:
        with _lock:
            now = time.monotonic()
            if _left_out.get(alias, 0.0) > now:
                continue
            if alias in _left_out:  # others go on without it until this one has tried
                _left_out[alias] = now + LEFT_OUT_S
        yield alias


def _leave_out(alias: str, error: Exception) -> None:
    with _lock:
        _left_out[alias] = time.monotonic() + LEFT_OUT_S
    logger.warning("replica left out", extra=logs.describe_error(error))
    if not isinstance(error, NotRecent):
        connections[alias].close()


def find_position() -> int:
    """Return the primary's log position: everything committed so far is at or before it."""
    return int(execute("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint")[0][0])


def measure_age(alias: str) -> float:
    """Return how old a replica's data may be, in seconds; infinite if it is no replica.

    Raises:
        OperationalError: it does not answer, or does not keep tenants apart.
    """
    stand = _ask_primary("NULL", ())
    return _find_age(_look(connections[alias]), stand)


def name_source(response: HttpResponse, source: Source | None) -> None:
    """Set the headers that tell who answered, and how old the data may be."""
    if source:
        response["Memory-Read-From"] = source.name
        response["Memory-Read-Age"] = f"{source.age_s:.3f}"
