"""New statements close what they contradict, and nothing else."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from semantic.evaluation import score_contradictions
from semantic.offline_consolidator import OfflineConsolidator
from tests.semantic.fact_makers import embed

CASES = Path(__file__).with_name("contradictions.jsonl")


def read_cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("runs", [1, 2])
def test_the_right_facts_are_held_after_a_contradiction(runs: int) -> None:
    cases = read_cases()
    score = score_contradictions(
        cases, consolidator=OfflineConsolidator(embed=embed), embed=embed, runs=runs
    )
    sys.stdout.write(f"contradictions, {runs} run(s): {score.accuracy:.3f} right\n")
    assert len(cases) >= 60
    assert score.accuracy >= 0.9, score.wrong
