"""The storm's own PostgreSQL: made, looked into past the product, crashed and started again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from memoryproject import embedded
from memoryproject.embedded.bootstrap import connect_as_superuser

ROOT = Path(__file__).resolve().parents[2]
MANAGE = [sys.executable, str(ROOT / "manage.py")]
TEMPLATE = "BENCH_TEMPLATE"
"""May name a data folder with a migrated database that does not run: what is made anew begins as
its copy, and spares the half a minute that making one takes."""

Connection = psycopg.Connection[tuple[Any, ...]]


def make_folder(wished: Path | None) -> Path:
    """Make the data folder and return it.

    Raises:
        SystemExit: it exists; what is in it may be somebody's.
    """
    if wished is None:
        # Not TMPDIR, which may lie where root's service user cannot go.
        folder = Path(tempfile.mkdtemp(prefix="memory-storm-", dir="/tmp"))
        folder.chmod(0o711)
        return folder
    if os.path.lexists(wished):
        raise SystemExit(f"{wished} exists: name a folder that does not, it will be made.")
    embedded.make_data_dir(wished.resolve())
    return wished.resolve()


def copy_template(data_dir: Path) -> None:
    """Copy the database that the environment names, where none is there yet."""
    target, source = embedded.locate(data_dir).home, os.environ.get(TEMPLATE)
    if source and not target.exists():
        home = embedded.locate(Path(source)).home
        subprocess.run(["cp", "-a", str(home), str(target)], check=True)
        for secret in ("secret_key", "key_pepper"):  # the database knows its pepper
            shutil.copy(Path(source) / secret, data_dir / secret)


def start(data_dir: Path) -> None:
    """Start the server, or find that somebody has started it."""
    copy_template(data_dir)
    embedded.ensure_started(data_dir, report=lambda line: None)


def crash(data_dir: Path) -> bool:
    """End the server and all its backends at once, in the middle of whatever they do."""
    return embedded.stop(data_dir, mode="immediate")


def stop(data_dir: Path) -> None:
    """End the server in an orderly way."""
    embedded.stop(data_dir)


def remove(data_dir: Path) -> None:
    """Delete the server's files and the folder; the server must have stopped."""
    shutil.rmtree(embedded.locate(data_dir).home, ignore_errors=True)
    shutil.rmtree(data_dir, ignore_errors=True)


@contextmanager
def connect(data_dir: Path) -> Iterator[Connection]:
    """Connect as the superuser, in autocommit, until the block ends."""
    address = embedded.locate(data_dir).address
    with connect_as_superuser(address, database=address.database) as connection:
        yield connection


def manage(*arguments: str, environment: Mapping[str, str]) -> str:
    """Run one of the product's commands and return what it printed."""
    done = subprocess.run(
        [*MANAGE, *arguments],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.strip()
