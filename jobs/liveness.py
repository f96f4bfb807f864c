"""Tells, on one machine, of which clusters all processes are dead.

Each cluster has a file, locked by an open descriptor that its processes inherit: the kernel frees
the lock with the last of them. So what was left by a supervisor that was killed, which takes its
workers along, need not wait for the end of its leases.
"""

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from django.conf import settings

FOLDER = "clusters"


@contextmanager
def marking(cluster: uuid.UUID) -> Iterator[None]:
    """Let the processes that are forked in the block count as a cluster's.

    Where nothing can be written there is no file, and its leases end by themselves.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            folder = _find_folder()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(folder / str(cluster), os.O_CREAT | os.O_RDWR, 0o600)
            stack.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def list_dead() -> list[uuid.UUID]:
    """Return clusters of this machine, of its data folder, that have no process any more."""
    return [uuid.UUID(path.name) for path in _find_folder().glob("*-*") if _is_free(path)]


def forget(cluster: uuid.UUID) -> None:
    """Take a dead cluster from the list."""
    (_find_folder() / str(cluster)).unlink(missing_ok=True)


def _is_free(path: Path) -> bool:
    with suppress(OSError):
        lock = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(lock)
        return True
    return False


def _find_folder() -> Path:
    folder: Path = settings.DATA_DIR / FOLDER
    return folder
