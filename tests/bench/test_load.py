"""The mixed load says what it measured, and what memory a server takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.commands import run

SIZE = ["--seconds=3", "--tenants=2", "--notes=10", "--rate=4"]
PHASES = {"calm", "hostile", "calm again"}
LIVE = "health/live"
HOSTILE_CALLS = {"search", "add_messages", "messages", "flush"}


@pytest.mark.bench
def test_a_run_measures_each_class_of_tenants_in_each_phase(tmp_path: Path) -> None:
    said, results = run("bench.load", *SIZE, figures=tmp_path / "load.json")
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
    assert "small, retrieve_memory, hostile" in said


@pytest.mark.bench
def test_the_memory_of_a_server_is_measured_at_rest_and_after_calls(tmp_path: Path) -> None:
    said, rows = run("bench.load", "--memory=5", "--settle=1", figures=tmp_path / "memory.json")
    assert [row[0] for row in rows] == ["at rest", "after 40 more calls", "after 5 more calls"]
    assert all(total > stored > 0 and count > 4 for _, total, stored, count in rows)
    assert "after 5 more calls" in said
