"""New statements end next to nothing: offline nothing is retired by guess."""

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
    ("path", "cases"),
    [(OWN, 286), (NATURAL, 346)],
    ids=["own", "natural"],
)
@pytest.mark.parametrize("runs", [1, pytest.param(2, marks=pytest.mark.bench)])
def test_nothing_true_is_retired_beside_a_contradiction(path: Path, cases: int, runs: int) -> None:
    score = score_contradictions(read_rows(path, CASES), runs=runs)
    sys.stdout.write(f"{path.stem}, {runs} run(s): {score.accuracy:.3f} right\n")
    assert score.cases == cases
    assert score.closed_wrongly <= cases // 60
