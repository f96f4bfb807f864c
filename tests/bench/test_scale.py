"""What growing costs is measured on a server of its own, and modelled from that."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from bench.scale.costs import Cost, Costs
from bench.scale.model import Assumptions, find_needs
from tests.bench.commands import run

SIZE = ["--sizes", "40", "160", "--peak=8"]
MEASURED = Costs(
    message=Cost(0.010, 0.002),
    pipeline=Cost(0.020, 0.010),
    answers={100: Cost(0.030, 0.002), 1_100: Cost(0.030, 0.012)},
    bytes_a_message=10_000,
    units_a_message=2.0,
)


def test_a_model_adds_up_what_was_measured() -> None:
    assumed = Assumptions(answers_a_message=1, conversation_messages=300, peak=2, busy=0.5)
    need, large = find_needs(MEASURED, assumed, [86_400, 8_640_000])
    # A message a second, times four: 60 ms of ours; 12 ms and an answer from 600 units, 7 ms.
    assert need.our_cores == pytest.approx(4 * 0.060)
    assert need.database_cores == pytest.approx(4 * 0.019)
    assert need.disk_gb == pytest.approx(86_400 * 365 * 10_000 / 1e9)
    assert need.dollars_a_month == pytest.approx(25 + need.disk_gb * 0.12)
    cores = math.ceil(100 * 4 * 0.079)
    assert large.dollars_a_month == pytest.approx(cores * 25 + 100 * need.disk_gb * 0.12)


@pytest.mark.bench
def test_a_run_measures_messages_and_answers(tmp_path: Path) -> None:
    said, costs = run("bench.scale", *SIZE, figures=tmp_path / "scale.json")
    assert costs["message"]["ours_s"] > 0 and costs["pipeline"]["ours_s"] > 0
    assert [int(units) for units in costs["answers"]] == sorted(map(int, costs["answers"]))
    assert costs["bytes_a_message"] > 0 and "peak 8" in said
