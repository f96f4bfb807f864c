"""Random requests find no answer of 500, and none that the API's description does not have.

Requests are made from the description by schemathesis, valid ones and wrong ones; it follows the
links from answers to other calls, and deletes what it made.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from bench.server import Server, running, shipped
from bench.storm.database import make_folder
from bench.storm.services import UNLIMITED
from tests.api.fuzz.hooks import LET_PASS
from tests.template import for_benchmarks

SECONDS, LEAVES_WITHIN_S = 30, 120
OWN = {"MEMORY_LOG_LEVEL": "ERROR", "MEMORY_WEBHOOK_NETWORKS": "127.0.0.0/8"}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The product with the demo's conversation in it, without rate limits."""
    for name, value in for_benchmarks().items():
        monkeypatch.setenv(name, value)
    folder = make_folder(None)
    with running(folder, shipped(folder) | UNLIMITED | OWN) as server:
        server.manage("seed_demo")
        with server.working():
            yield server


@pytest.mark.gate
def test_half_a_minute_of_random_requests_finds_nothing(server: Server, tmp_path: Path) -> None:
    origin = f"http://127.0.0.1:{server.port}"
    key = (server.data_dir / "api_key").read_text(encoding="utf-8").strip()
    report, let_pass = tmp_path / "report.json", tmp_path / "let_pass"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--no-color"),
            *("--config-file", str(Path(__file__).with_name("schemathesis.toml"))),
            *("run", f"{origin}/api/v0/schema/?format=json", "--url", origin),
            *("-H", f"Authorization: Bearer {key}", "--checks", "all"),
            *("--phases", "coverage,fuzzing,stateful", "--continue-on-failure", "--seed", "7"),
            *("--max-time", str(SECONDS)),
            *("--workers", "1", "--warnings", "off"),  # threads trip over Python 3.11's parser
            *("--report", "json", "--report-json-path", str(report)),
        ],
        cwd=tmp_path,
        env=os.environ
        | {"PYTHONPATH": str(settings.BASE_DIR), "SCHEMATHESIS_HOOKS": "tests.api.fuzz.hooks"}
        | {LET_PASS: str(let_pass)},
        capture_output=True,
        text=True,
        timeout=SECONDS + LEAVES_WITHIN_S,
        check=False,
    )
    assert report.exists(), done.stdout[-6000:] + done.stderr[-6000:]
    found = json.loads(report.read_text(encoding="utf-8"))
    assert not found["failures"] + found["errors"], done.stdout[-6000:]
    assert found["test_cases"]["generated"] > 100
    # The web server's own word for a 500.
    assert "unforeseen" not in (server.data_dir / "logs" / "web.log").read_text(errors="replace")
