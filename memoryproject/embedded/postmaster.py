"""Tells whether the server lives and answers, and stops it and orphans.

Orphans are servers whose files were deleted while they ran, as by `rm -rf var`.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from psycopg import pq

from memoryproject.embedded.accounts import EmbeddedPostgresError
from memoryproject.embedded.binaries import without_pg_variables
from memoryproject.embedded.bootstrap import superuser_conninfo
from memoryproject.embedded.paths import ServerPaths

ORPHANS_LEAVE_WITHIN_S = 10.0
StopMode = Literal["fast", "immediate"]
STOP_SIGNALS: dict[StopMode, signal.Signals] = {
    "fast": signal.SIGINT,  # rolls open transactions back and writes a checkpoint
    "immediate": signal.SIGQUIT,  # like a power cut: the next start recovers
}
STOP_TIMEOUT_S = 120.0
POLL_S = 0.02

# Above the highest pid that a kernel gives.
NO_SUCH_PID = 99_999_999


def ping(paths: ServerPaths) -> pq.Ping:
    """Return the server's state: OK, REJECT (it starts, recovers or stops), or NO_RESPONSE.

    A living process is no proof: a dying one still has its pid for a while.
    """
    conninfo = superuser_conninfo(paths.address, database="postgres")
    with without_pg_variables():
        return pq.Ping(pq.PGconn.ping(conninfo.encode()))


def running_pid(paths: ServerPaths) -> int | None:
    """Return the pid of the living server, None when there is none."""
    return _read_living_pid(paths.pid_file)


def _read_living_pid(file: Path) -> int | None:
    """Return the pid in a file, if it is that of a PostgreSQL server."""
    try:
        pid = int(file.read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return None
    return pid if is_postgres(pid) else None


def disown_dead_pid(paths: ServerPaths) -> None:
    """Make a pid file of a dead server harmless.

    PostgreSQL refuses to start while *any* process has the pid in the file. In a container that is
    common: the zombie of a killed server stays, and after a restart another program may have its
    number. We change the number and keep the file, because PostgreSQL uses its other lines to check
    that no orphan still uses the shared memory. A file without a number, as after a power cut, is
    deleted: PostgreSQL would not start with it.
    """
    for file in (paths.pid_file, paths.socket_lock):
        with suppress(FileNotFoundError), file.open("r+", errors="replace") as opened:
            first, separator, rest = opened.read().partition("\n")
            if not (first.isascii() and first.strip().isdigit()):
                file.unlink()
            elif not is_postgres(int(first)):
                opened.seek(0)
                opened.write(f"{NO_SUCH_PID}{separator}{rest}")
                opened.truncate()


def end_server(paths: ServerPaths, mode: StopMode) -> bool:
    """Stop the server and wait until it is gone; False when none was running.

    Raises:
        EmbeddedPostgresError: it was still there after two minutes.
    """
    pid = running_pid(paths)
    if pid is None:
        return False
    os.kill(pid, STOP_SIGNALS[mode])
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while running_pid(paths) == pid:
        if time.monotonic() > deadline:
            raise EmbeddedPostgresError(
                f"PostgreSQL (process {pid}) has not stopped yet: wait for its clients to end,"
                f" or stop it with the mode 'immediate'; its log is {paths.log}."
            )
        time.sleep(POLL_S)
    return True


def is_postgres(pid: int) -> bool:
    """Return whether the process lives, is no zombie and, if /proc tells, is PostgreSQL."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return not Path("/proc/self/stat").exists() and _exists(pid)
    name, _, rest = status.partition("(")[2].rpartition(") ")
    return name == "postgres" and not rest.startswith(("Z", "X"))


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def end_orphans(paths: ServerPaths) -> None:
    """End servers of this place that have no pid file; call it under the lock.

    Such a server still answers on the socket although its tables are gone. It would notice after up
    to a minute, and then delete *by name* the socket of whatever server is there by then.
    """
    if running_pid(paths) is not None:
        return
    deadline = time.monotonic() + ORPHANS_LEAVE_WITHIN_S
    while (pids := set(_find_orphans(paths))) and time.monotonic() < deadline:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT)  # nothing is left that could be written
        time.sleep(POLL_S)


def _find_orphans(paths: ServerPaths) -> Iterator[int]:
    if pid := _read_living_pid(paths.socket_lock):
        yield pid
    # Only Linux tells a process's folder; elsewhere we use the socket's lock.
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.readlink(folder / "cwd") == f"{paths.cluster} (deleted)":
                pid = int(folder.name)
                if is_postgres(pid):
                    yield pid
