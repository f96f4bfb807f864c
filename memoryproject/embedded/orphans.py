"""Servers whose files were deleted under them, as by `rm -rf var` while one runs."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from memoryproject.embedded.paths import ServerPaths
from memoryproject.embedded.postmaster import is_postgres, running_pid

PATIENCE_S = 10.0
POLL_S = 0.02


def end_orphans(paths: ServerPaths) -> None:
    """End what still runs for this place without a pid file; call it under the lock.

    Such a server answers on a short socket path although its tables are gone.
    Otherwise it notices after up to a minute, and deletes *by name* the socket
    of whoever serves there by then.
    """
    if running_pid(paths) is not None:
        return
    deadline = time.monotonic() + PATIENCE_S
    while (pids := set(_find_orphans(paths))) and time.monotonic() < deadline:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT)  # nothing is left that could be written
        time.sleep(POLL_S)


def _find_orphans(paths: ServerPaths) -> Iterator[int]:
    with suppress(FileNotFoundError, ValueError):
        pid = int(paths.socket_lock.read_text().split("\n", 1)[0])
        if is_postgres(pid):
            yield pid
    # Linux alone tells where a process stands; elsewhere the socket's lock must do.
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.readlink(folder / "cwd") == f"{paths.cluster} (deleted)":
                pid = int(folder.name)
                if is_postgres(pid):
                    yield pid
