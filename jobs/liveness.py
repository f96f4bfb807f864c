"""Finds clusters of this machine without living processes.

Each cluster has a file, locked through a descriptor that its processes inherit: the kernel frees
the lock when the last of them ends. So jobs of a killed supervisor, whose workers die with it, need
not wait for the end of their leases.
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
    """Count the processes that are forked in the block as a cluster's.

    If no file can be written, its leases end by time.
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
    """Return the clusters of this machine and data folder without living processes."""
    return [uuid.UUID(path.name) for path in _find_folder().glob("*-*") if _is_free(path)]


def forget(cluster: uuid.UUID) -> None:
    """Remove a dead cluster from the list."""
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
