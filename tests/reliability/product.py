"""The whole product as processes of its own: a database, a web server, workers.

The database is a copy of one that was made and migrated once in a run: a test may stop it,
fill its disk and spoil it as it likes.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings

from bench.storm.services import find_port
from memoryproject import embedded
from memoryproject.process.web import web_command
from tests.reliability.client import HOST, Caller
from tests.server import FAST_SETTINGS

PATIENCE_S = 180
WEB_THREADS = 8
DURABLE = {"synchronous_commit": "on"}
"""A server that is stopped in the middle must not lose what it has said is committed."""
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]
LASTING_KEYS = "tests.reliability.lasting_keys"


@dataclass
class Product:
    """One installation: a data folder, and what is set around it."""

    data_dir: Path
    key: str = ""
    settings: dict[str, str] = field(default_factory=lambda: {**FAST_SETTINGS, **DURABLE})
    environment: dict[str, str] = field(default_factory=dict)

    def start(self) -> embedded.ServerAddress:
        """Start the database, or find it running."""
        return embedded.ensure_started(
            self.data_dir, settings=self.settings, report=lambda line: None
        )

    def stop(self, mode: Any = "immediate") -> None:
        """End the database at once, as a power cut would."""
        embedded.stop(self.data_dir, mode=mode)

    def around(self) -> dict[str, str]:
        """Return the environment of the product's processes."""
        ours = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        ours |= {"MEMORY_DATA_DIR": str(self.data_dir), "MEMORY_LOG_LEVEL": "CRITICAL"}
        return {**ours, **self.environment}

    def manage(self, *arguments: str) -> str:
        """Run a command of the product and return what it printed."""
        done = subprocess.run(
            [*MANAGE, *arguments],
            env=self.around(),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout.strip()

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement, run as the superuser."""
        with self.connect() as connection:
            return connection.execute(statement.encode()).fetchall()

    def make_older(self) -> None:
        """Take a column and a policy away, which a version before had not."""
        self._execute("ALTER TABLE jobs_job RENAME COLUMN holder TO not_yet")
        self._execute("ALTER TABLE jobs_job NO FORCE ROW LEVEL SECURITY")

    def make_newer(self) -> None:
        """Give both back, as a migration would."""
        self._execute("ALTER TABLE jobs_job RENAME COLUMN not_yet TO holder")
        self._execute("ALTER TABLE jobs_job FORCE ROW LEVEL SECURITY")

    def _execute(self, statement: str) -> None:
        with self.connect() as connection:
            connection.execute(statement.encode())

    def connect(self, user: str = embedded.SUPERUSER) -> psycopg.Connection[tuple[Any, ...]]:
        """Open a connection past the product."""
        place = embedded.locate(self.data_dir).address
        return psycopg.connect(
            host=place.host, port=place.port, dbname=place.database, user=user, autocommit=True
        )

    def caller(self, port: int) -> Caller:
        """Return somebody with the product's key."""
        return Caller(port, self.key)


@contextmanager
def web(
    environment: Mapping[str, str], *, app: str = "memoryproject.wsgi", workers: int = 1
) -> Iterator[int]:
    """Run the product's web server, processes of eight threads; yield its port."""
    port = find_port()
    command = [app if part == "memoryproject.wsgi" else part for part in web_command(HOST, port)]
    process = subprocess.Popen(
        [*command, f"--workers={workers}", "--log-level=critical"],
        env={**environment, "MEMORY_WEB_THREADS": str(WEB_THREADS)},
        cwd=settings.BASE_DIR,
        start_new_session=True,
    )
    try:
        _wait_until_alive(port, process)
        yield port
    finally:
        end(process)


def _wait_until_alive(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and process.poll() is None:
        try:
            if Caller(port, "none").get("health/live").status == 200:
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the web server did not come up")


@contextmanager
def workers(environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run `manage.py worker` with one worker until the block ends."""
    process = subprocess.Popen([*MANAGE, "worker"], env={**environment, "MEMORY_WORKERS": "1"})
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Tell a process to end, and wait until it has."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


@contextmanager
def installed(template: Product, folder: Path, **environment: str) -> Iterator[Product]:
    """Copy the template's database into a folder of its own; it does not run yet."""
    data_dir = folder / "memory"
    subprocess.run(["cp", "-a", str(template.data_dir), str(data_dir)], check=True)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, data_dir, ignore_errors=True)
        stack.callback(embedded.stop, data_dir, mode="immediate")
        yield Product(data_dir, key=template.key, environment=environment)
