"""A minute of kill -9 loses nothing. Left out of the everyday suite: `-m gate` runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings

from tests.server import throwaway_folder

pytestmark = pytest.mark.gate

MINUTE = ["--seconds=60", "--messages=600", "--kills=30", "--crashes=2", "--freezes=1"]
LONGEST_S = 420


def let_pass(*wishes: str) -> dict[str, Any]:
    """Run a storm to its end; return what it says, in words where it failed."""
    with throwaway_folder() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "bench.storm", f"--data-dir={folder / 'var'}", *wishes],
            cwd=settings.BASE_DIR,
            env=os.environ,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    (line,) = done.stdout.splitlines()
    results: dict[str, Any] = json.loads(line)
    return results


def test_a_minute_of_kills_loses_nothing() -> None:
    results = let_pass(*MINUTE)
    assert results["ok"], results["violations"]
    assert results["kills"]["total"] > 20
    assert results["db_crashes"] == 2
    assert results["accepted"] == 600 and results["duplicates_sent"]
    assert not results["lost"] + results["duplicated"] + results["stuck"] + results["orphans"]
