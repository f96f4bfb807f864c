"""Half a minute of kill -9 loses nothing. Left out of the everyday suite: `-m gate` runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings

from tests.server import throwaway_folder
from tests.template import for_benchmarks

pytestmark = [pytest.mark.gate, pytest.mark.alone]

HALF_A_MINUTE = ["--seconds=30", "--messages=300", "--kills=15", "--crashes=1", "--freezes=1"]
BURDEN = ["--heavy", "--faults=0", "--crashes=0", "--freezes=0", "--purges=1"]
LONGEST_S, LEAVES_WITHIN_S = 900, 120


def let_pass(*wishes: str) -> dict[str, Any]:
    """Run a storm to its end and return what it says."""
    with throwaway_folder() as folder:
        storm = subprocess.Popen(
            [sys.executable, "-m", "bench.storm", f"--data-dir={folder / 'var'}", *wishes],
            cwd=settings.BASE_DIR,
            env=for_benchmarks(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            said, told = storm.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            storm.terminate()  # not kill: it has processes to end
            said, told = storm.communicate(timeout=LEAVES_WITHIN_S)
    assert storm.returncode == 0, told[-4000:]
    (line,) = said.splitlines()
    results: dict[str, Any] = json.loads(line)
    return results


def test_half_a_minute_of_kills_loses_nothing() -> None:
    results = let_pass(*HALF_A_MINUTE)
    assert results["ok"], results["violations"]
    assert results["kills"]["total"] > 10
    assert results["db_crashes"] == 1
    assert results["accepted"] == 300 and results["duplicates_sent"]
    assert not results["lost"] + results["duplicated"] + results["stuck"] + results["orphans"]


@pytest.mark.bench
def test_a_tenant_that_is_a_burden_holds_up_nobody_while_processes_are_killed() -> None:
    """Its receivers drip, its model is slow, it imports and erases; flushes beside it are timed."""
    results = let_pass(*BURDEN, "--seconds=40", "--messages=120", "--kills=13")
    assert results["ok"], results["violations"]
    assert results["kills"]["total"] > 6 and results["accepted"] == 120
    assert results["flush_beside_s"]["p50"] <= 10
