"""New statements end what they replace, and next to nothing else."""

import sys
from pathlib import Path

import pytest

from bench.quality.contradictions import CASES, score_contradictions
from bench.quality.files import read_rows

OWN = Path(__file__).with_name("contradictions.jsonl")
NATURAL = Path(__file__).with_name("natural_contradictions.jsonl")
"""Chats by five writers who had not seen the rules; by now the rules have seen them."""


@pytest.mark.gate
@pytest.mark.parametrize(
    ("path", "cases", "least_right"),
    [(OWN, 286, 0.65), (NATURAL, 346, 0.48)],
    ids=["own", "natural"],
)
@pytest.mark.parametrize("runs", [1, 2])
def test_the_right_facts_are_active_after_a_contradiction(
    path: Path, cases: int, least_right: float, runs: int
) -> None:
    score = score_contradictions(read_rows(path, CASES), runs=runs)
    sys.stdout.write(f"{path.stem}, {runs} run(s): {score.accuracy:.3f} right\n")
    assert score.cases == cases
    assert score.accuracy >= least_right, score.wrong
    assert score.closed_wrongly <= cases // 60
