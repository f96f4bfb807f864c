"""Known vulnerabilities of what we pin are found, and every package is pinned by its hash."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

ROOT: Path = settings.BASE_DIR
LOCKS = sorted(ROOT.glob("requirements*.lock"))
PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)", re.MULTILINE)
FOUND = {
    "id": "GHSA-aaaa-bbbb-cccc",
    "summary": "It is bad.",
    "affected": [
        {
            "package": {"name": "fsrs", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.0"}]}],
            "versions": [],
        }
    ],
}


class Database(BaseHTTPRequestHandler):
    """A database of vulnerabilities that knows of one, or of none."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = getattr(self.server, "known", None)
        answer: dict[str, Any] = {"vulns": [FOUND]} if asked["package"]["name"] == known else {}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *given: object) -> None:
        """Keep the test's output clean."""


@contextmanager
def database(known: str) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Database)
    server.known = known  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/query"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """The pins of two packages, with their hashes."""
    blocks = re.split(r"\n(?=[a-z])", (ROOT / "requirements.lock").read_text())
    few = [block for block in blocks if block.startswith(("fsrs==", "asgiref=="))]
    file = tmp_path / "few.lock"
    file.write_text("\n".join(few))
    assert len(few) == 2
    return file


def audit(lock: Path, url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "audit.py"), str(lock)],
        env={**os.environ, "AUDIT_URL": url},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_known_vulnerability_fails_the_audit_by_name(lock: Path) -> None:
    with database("fsrs") as url:
        done = audit(lock, url)
    assert done.returncode == 1, done.stderr
    assert "GHSA-aaaa-bbbb-cccc" in done.stdout and "fsrs 6" in done.stdout


def test_packages_of_which_nothing_is_known_pass(lock: Path) -> None:
    with database("nothing") as url:
        done = audit(lock, url)
    assert done.returncode == 0 and "2 packages" in done.stdout, done.stdout + done.stderr


def test_where_nobody_can_be_asked_the_audit_says_so(lock: Path) -> None:
    done = audit(lock, "http://127.0.0.1:9/v1/query")
    assert done.returncode == 0 and "NOT AUDITED" in done.stdout, done.stdout + done.stderr


def test_every_exception_says_why() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    exceptions = settings["tool"]["audit"]["exceptions"]
    assert all(len(why) > 20 for why in exceptions.values()), exceptions


@pytest.mark.parametrize("file", LOCKS, ids=lambda file: file.name)
def test_every_package_is_pinned_by_its_hash(file: Path) -> None:
    """pip then takes nothing else, whoever serves it."""
    blocks = [block for block in re.split(r"\n(?=[a-z])", file.read_text()) if "==" in block]
    unpinned = [block.splitlines()[0] for block in blocks if PIN.match(block) is None]
    unhashed = [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block]
    assert len(blocks) > 20 and unpinned == [] and unhashed == []
