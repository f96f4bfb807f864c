"""The product's own processes, started as `manage.py run` starts them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from bench.retrieval.databases import environment
from jobs.supervisor import DRAIN_S
from memoryproject.process.web import web_command
from wings.operations.management.commands import run

HOST = "127.0.0.1"


@contextmanager
def web(database: str) -> Iterator[int]:
    """Run the web server on a database until the block ends; yield its port."""
    port = _find_port()
    child = subprocess.Popen(
        web_command(HOST, port),
        cwd=settings.BASE_DIR,
        env=environment(database),
        start_new_session=True,
    )
    try:
        run.wait_until_alive(HOST, port, lambda: child.poll() is None)
        yield port
    finally:
        _end(child)


@contextmanager
def worker(database: str) -> Iterator[None]:
    """Run one `manage.py worker` on a database until the block ends."""
    child = subprocess.Popen(
        [sys.executable, os.fspath(settings.BASE_DIR / "manage.py"), "worker"],
        env=environment(database),
        start_new_session=True,
    )
    try:
        yield
    finally:
        _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    child.wait(timeout=DRAIN_S + 5)


def _find_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
