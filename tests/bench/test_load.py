"""The mixed load runs from its command line, at a size of seconds, and says what it measured."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from django.conf import settings

from tests.server import throwaway_folder
from tests.template import for_benchmarks

SIZE = ["--seconds=3", "--tenants=2", "--notes=10", "--rate=4"]
PHASES = {"calm", "hostile", "calm again"}
LIVE = "health/live"
HOSTILE_CALLS = {"search", "add_messages", "messages", "flush"}


@pytest.mark.gate
def test_a_run_measures_each_class_of_tenants_in_each_phase() -> None:
    with throwaway_folder() as folder:
        figures, drawn = folder / "load.json", folder / "load.svg"
        done = subprocess.run(
            [sys.executable, "-m", "bench.load", *SIZE, f"--json={figures}", f"--picture={drawn}"],
            cwd=settings.BASE_DIR,
            env=for_benchmarks(),
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        results = json.loads(figures.read_text())
        assert "health/live" in drawn.read_text()
    rows = {(row["kind"], row["call"], row["phase"]): row for row in results["rows"]}
    for kind, call in [("small", "retrieve_memory"), ("small", "add_message"), ("probe", LIVE)]:
        own = [rows[kind, call, phase] for phase in PHASES]
        assert all(row["count"] > 0 for row in own)
        assert rows[kind, call, "calm"]["p95"] > 0
    # That nobody else is refused is shown by tests/reliability/test_web_pool.py, without a clock.
    assert {call for kind, call, phase in rows if kind == "hostile"} >= HOSTILE_CALLS
    assert any("429" in row["shares"] for key, row in rows.items() if key[0] == "hostile")
    assert results["settings"]["KEY_RATE"] == 30000
    assert results["live_worst_ms"] > 0
    assert set(results["ratios"]) == {"retrieve_memory", "add_message"}
    assert "| small | retrieve_memory | hostile |" in done.stdout
