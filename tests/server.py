"""A PostgreSQL server for one test run, beside which a running `make run` stays undisturbed."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from psycopg import sql

from memoryproject import embedded
from memoryproject.embedded.bootstrap import connect_as_superuser, install_extensions

PREFIX = "memory-test-"
# Not TMPDIR, which may lie where root's service user cannot go.
PARENT = Path("/tmp")

# A test server need not survive a power cut.
FAST_SETTINGS: Mapping[str, str] = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "1h",
    # Plans must not depend on which test a table was analysed after.
    "autovacuum_analyze_threshold": "2000000000",
}

# How long a folder may stand without its lock: between mkdir and flock.
UNCLAIMED_S = 60.0


@dataclass(frozen=True)
class ThrowawayServer:
    """Set MEMORY_DATA_DIR to `data_dir` before Django reads its settings."""

    data_dir: Path
    address: embedded.ServerAddress


@contextmanager
def throwaway_server() -> Iterator[ThrowawayServer]:
    """Run a server of our own until the block ends, also when Ctrl-C ends it.

    `memory_owner` may create databases here, and each new database has the
    extensions from the start: Django's `test_memory` needs both.
    What killed runs have left behind is removed first.
    """
    remove_leftovers()
    with throwaway_folder() as folder:
        data_dir = folder / "var"
        try:
            address = embedded.ensure_started(
                data_dir, settings=FAST_SETTINGS, report=lambda line: None
            )
            _allow_test_databases(address)
            yield ThrowawayServer(data_dir=data_dir, address=address)
        finally:
            embedded.stop(data_dir, mode="immediate")


@contextmanager
def throwaway_folder() -> Iterator[Path]:
    """Make a short-named folder under /tmp that any user can walk through, and remove it.

    pytest's `tmp_path` will not do: as root it is 0700, and its paths are long.
    The lock in it says that its run is alive; a killed process lets go of it.
    """
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=PARENT))
    try:
        folder.chmod(0o711)
        with (folder / "in-use").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers() -> None:
    """Stop and delete the servers of runs that were killed before they could."""
    for folder in PARENT.glob(f"{PREFIX}*"):
        with suppress(OSError, embedded.EmbeddedPostgresError):  # somebody else's, or just gone
            if _is_abandoned(folder):
                _remove(folder)


def _is_abandoned(folder: Path) -> bool:
    status = folder.lstat()
    if status.st_uid != os.geteuid() or time.time() - status.st_mtime < UNCLAIMED_S:
        return False
    with (folder / "in-use").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _remove(folder: Path) -> None:
    for link in folder.glob("*/postgres"):
        embedded.stop(link.parent, mode="immediate")
    shutil.rmtree(folder)


def _allow_test_databases(address: embedded.ServerAddress) -> None:
    with connect_as_superuser(address, database="template1") as connection:
        install_extensions(connection)
        owner = sql.Identifier(embedded.OWNER_ROLE)
        connection.execute(sql.SQL("ALTER ROLE {} CREATEDB").format(owner))
