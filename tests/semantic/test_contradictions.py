"""New statements close what they contradict, and nothing else."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from episodic.engines import Vectors
from semantic.evaluation import score_contradictions
from semantic.offline_consolidator import OfflineConsolidator
from tests.semantic.fact_makers import embed

CASES = Path(__file__).with_name("contradictions.jsonl")


def read_cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    """Return the cases, the texts they need embedded in large batches: one by one is slow."""
    read, texts = read_cases(), set[str]()

    def note(wanted: Sequence[str]) -> Vectors:
        texts.update(wanted)
        return np.zeros((len(wanted), 1), dtype=np.float32)

    score_contradictions(read, consolidator=OfflineConsolidator(embed=note), embed=note)
    embed(sorted(texts))
    return read


@pytest.mark.parametrize("runs", [1, 2])
def test_the_right_facts_are_held_after_a_contradiction(
    cases: list[dict[str, Any]], runs: int
) -> None:
    score = score_contradictions(
        cases, consolidator=OfflineConsolidator(embed=embed), embed=embed, runs=runs
    )
    sys.stdout.write(f"contradictions, {runs} run(s): {score.accuracy:.3f} right\n")
    assert len(cases) >= 60
    assert score.accuracy >= 0.9, score.wrong
