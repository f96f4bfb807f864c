"""Rounds of schemathesis against one running server, until there were enough cases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.fuzz.hooks import LET_PASS
from bench.fuzz.server import Server, running
from bench.storm.database import ROOT

HERE = Path(__file__).parent
SCHEMA = "/api/v0/schema/?format=json"
ROUND_S = 240.0
"""A round goes on for as long as it is given; later rounds have other seeds."""
LEAST_S = 20.0
"""Less time is not worth a round: reading the description alone takes seconds."""
LEAVES_WITHIN_S = 120.0
TOLD_AT_MOST = 6_000


@dataclass(slots=True)
class Tally:
    """What all rounds came to."""

    cases: int = 0
    rounds: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    """By the kind of failure and the operation."""
    let_pass: Counter[str] = field(default_factory=Counter)
    """Refusals of what fits the schema, which hooks.py has a reason for; by call and reason."""
    errors: int = 0
    server_errors: int = 0
    told: list[str] = field(default_factory=list)
    """What schemathesis printed of rounds that failed."""

    def add(self, report: dict[str, Any], *, let_pass: Iterable[str], said: str) -> None:
        """Add one round's report."""
        self.rounds += 1
        self.let_pass.update(let_pass)
        self.cases += report["test_cases"]["generated"]
        self.errors += len(report["errors"])
        for failure in report["failures"]:
            for operation in failure["operations"]:
                self.failures[f"{failure['title']}: {operation}"] += 1
            if failure["type"] == "ServerError":
                self.server_errors += failure["count"]
        if report["failures"] or report["errors"]:
            self.told.append(said[:TOLD_AT_MOST])


def fuzz(*, cases: int, seconds: float, seed: int) -> dict[str, Any]:
    """Return what became of at least `cases` requests, or of as many as `seconds` allow."""
    tally = Tally()
    with running() as server:
        started = time.monotonic()
        while tally.cases < cases and (left := seconds - (time.monotonic() - started)) > LEAST_S:
            lasts = min(left, ROUND_S)
            _run_round(server, tally, seed=seed + tally.rounds, seconds=lasts)
            so_far = f"{tally.cases} cases, {sum(tally.failures.values())} failures"
            sys.stderr.write(
                f"round {tally.rounds}: {so_far}, {time.monotonic() - started:.0f} s\n"
            )
        took = time.monotonic() - started
        logged = _count_logged(server.logs)
    for said in tally.told:
        sys.stderr.write(said)
    return {
        "cases": tally.cases,
        "rounds": tally.rounds,
        "seed": seed,
        "server_errors": tally.server_errors,
        "unforeseen_in_log": logged,
        "schema_violations": sum(tally.failures.values()),
        "by_check": dict(tally.failures),
        "harness_errors": tally.errors,
        "let_pass": dict(tally.let_pass.most_common()),
        "seconds": round(took),
        "ok": not (tally.failures or tally.errors or logged) and tally.cases > 0,
    }


def _run_round(server: Server, tally: Tally, *, seed: int, seconds: float) -> None:
    """Let schemathesis run once, and add what it reports."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        let_pass = Path(folder) / "let_pass"
        let_pass.touch()
        # The phase that covers each constraint is the same in every round.
        phases = "coverage,fuzzing,stateful" if tally.rounds == 0 else "fuzzing,stateful"
        command = [
            *(sys.executable, "-m", "schemathesis.cli"),
            *("--config-file", str(HERE / "schemathesis.toml"), "--no-color"),
            *("run", server.origin + SCHEMA, "--url", server.origin),
            *("-H", f"Authorization: Bearer {server.key}", "--checks", "all"),
            *("--phases", phases, "--continue-on-failure", "--seed", str(seed)),
            *("--max-time", str(int(seconds))),
            *("--workers", "1", "--warnings", "off"),  # threads trip over Python 3.11's parser
            *("--report", "json", "--report-json-path", str(report)),
        ]
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ
            | {"PYTHONPATH": str(ROOT), "SCHEMATHESIS_HOOKS": "bench.fuzz.hooks"}
            | {LET_PASS: str(let_pass)},
            capture_output=True,
            text=True,
            timeout=seconds + LEAVES_WITHIN_S,
            check=False,
        )
        if not report.exists():
            raise RuntimeError(done.stdout[-TOLD_AT_MOST:] + done.stderr[-TOLD_AT_MOST:])
        tally.add(
            json.loads(report.read_text(encoding="utf-8")),
            let_pass=let_pass.read_text(encoding="utf-8").splitlines(),
            said=done.stdout,
        )


def _count_logged(logs: Path) -> int:
    """Return how often the web server met what nobody had foreseen: its own word for a 500."""
    return (logs / "web.log").read_text(encoding="utf-8", errors="replace").count("unforeseen")
