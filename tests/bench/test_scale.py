"""What growing costs is measured on a server of its own, and modelled from that."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from django.conf import settings

from bench.scale.costs import Cost, Costs
from bench.scale.model import Assumptions, find_needs
from tests.server import throwaway_folder
from tests.template import for_benchmarks

SIZE = ["--sizes", "40", "160", "--peak=8"]
MEASURED = Costs(
    message=Cost(0.010, 0.002),
    pipeline=Cost(0.020, 0.010),
    answers={100: Cost(0.030, 0.002), 1_100: Cost(0.030, 0.012)},
    bytes_a_message=10_000,
    units_a_message=2.0,
)


def test_a_model_adds_up_what_was_measured() -> None:
    assumed = Assumptions(
        answers_a_message=1, conversation_messages=300, peak=2, busy=0.5, database_cores=2
    )
    small, middle, large = find_needs(MEASURED, assumed, [86_400, 1_728_000, 8_640_000])
    # A message a second, times four: 60 ms of ours; 12 ms and an answer from 600 units, 7 ms.
    assert small.our_cores == pytest.approx(4 * 0.060)
    assert small.database_cores == pytest.approx(4 * 0.019)
    assert small.disk_gb == pytest.approx(86_400 * 365 * 10_000 / 1e9)
    assert small.shape == "one machine" and small.machines == 1
    assert middle.shape == "machines beside one database" and middle.machines == 3
    assert large.shape == "tenants over 4 databases" and large.machines == 6 + 4
    only_reading = Assumptions(answers_a_message=40, conversation_messages=300, database_cores=4)
    (read,) = find_needs(MEASURED, only_reading, [864_000])
    assert read.shape == "5 replicas for reading" and read.machines > 6


@pytest.mark.gate
def test_a_run_measures_messages_and_answers() -> None:
    with throwaway_folder() as folder:
        figures, drawn = folder / "scale.json", folder / "scale.svg"
        done = subprocess.run(
            [sys.executable, "-m", "bench.scale", *SIZE, f"--json={figures}", f"--picture={drawn}"],
            cwd=settings.BASE_DIR,
            env=for_benchmarks(),
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        costs = json.loads(figures.read_text())
        assert "messages a day" in drawn.read_text()
    assert costs["message"]["ours_s"] > 0 and costs["pipeline"]["ours_s"] > 0
    assert [int(units) for units in costs["answers"]] == sorted(map(int, costs["answers"]))
    assert costs["bytes_a_message"] > 0 and "peak 8" in done.stdout
