"""Random requests find no answer of 500, and none that the API's description does not have."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from django.conf import settings

from tests.template import for_benchmarks

LONGEST_S = 900


@pytest.mark.gate
def test_a_minute_of_random_requests_finds_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.fuzz", "--cases=1000", "--seconds=60", "--seed=7"],
        cwd=settings.BASE_DIR,
        env=for_benchmarks(),
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    results = json.loads(done.stdout)
    assert results["ok"] and results["cases"] > 100
    assert results["server_errors"] == results["schema_violations"] == 0
