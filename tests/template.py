"""A data folder with a migrated database, made once for all runs that have the same migrations."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.storm.database import TEMPLATE
from memoryproject import embedded
from memoryproject.embedded.bootstrap import connect_as_superuser
from tests.server import FAST_SETTINGS, remove_leftovers, throwaway_folder, throwaway_server

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT / ".pytest_cache"
"""`make clean` removes it."""
NAME = "migrated-"
MIGRATED = "memory_migrated"
"""A second database in it, as the migrations have left it, for tests that take them back."""
SOURCES = [
    "*/migrations/**/*.py", "*/migrations/**/*.sql", "*/*/migrations/**/*.py",
    "*/*/migrations/**/*.sql", "*/apps.py", "*/*/apps.py", "memoryproject/**/*.py",
    "requirements-dev.lock", "tests/server.py", "tests/template.py",
]  # fmt: skip


@contextmanager
def migrated_server() -> Iterator[Path]:
    """Run a server of our own, already migrated, until the block ends; yield its data folder."""
    remove_leftovers()
    with throwaway_folder() as folder:
        data_dir = folder / "var"
        try:
            copy_template(data_dir)
            embedded.ensure_started(data_dir, settings=FAST_SETTINGS, report=lambda line: None)
            yield data_dir
        finally:
            embedded.stop(data_dir, mode="immediate")


def copy_template(data_dir: Path) -> None:
    """Create a data folder whose server is complete, migrated and not running."""
    _copy(make_template(), data_dir)


def for_benchmarks() -> dict[str, str]:
    """Return the environment in which a benchmark begins with a copy of the template."""
    template = make_template()
    pepper = (template / "key_pepper").read_text(encoding="utf-8").strip()  # the copy knows it
    return {**os.environ, TEMPLATE: str(template), "MEMORY_KEY_PEPPER": pepper}


def make_template() -> Path:
    """Return the data folder to copy, which is made where it is not there."""
    STORE.mkdir(exist_ok=True)
    with (STORE / "migrated.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one worker migrates, the others wait for it
        template = STORE / f"{NAME}{_hash_sources()}"
        if not template.exists():
            _create(template)
        return template


def _hash_sources() -> str:
    """Return what names all that the database is made of, and whose its files are."""
    digest = hashlib.sha256(str(os.geteuid()).encode())
    for path in sorted({path for pattern in SOURCES for path in ROOT.glob(pattern)}):
        digest.update(f"\0{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _create(template: Path) -> None:
    for older in STORE.glob(f"{NAME}*"):
        shutil.rmtree(older)
    with throwaway_server() as server:
        subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity=0"],
            env={**os.environ, "MEMORY_DATA_DIR": str(server.data_dir)},
            check=True,
        )
        with connect_as_superuser(server.address, database="postgres") as connection:
            owner = embedded.OWNER_ROLE
            connection.execute(f"CREATE DATABASE {MIGRATED} TEMPLATE memory OWNER {owner}".encode())
        embedded.stop(server.data_dir)
        unfinished = template.with_name(f"{template.name}.unfinished")
        _copy(server.data_dir, unfinished)
        unfinished.rename(template)


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)
