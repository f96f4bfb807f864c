"""New statements end next to nothing: offline nothing is retired by guess."""

import sys
from pathlib import Path
from typing import Any

import pytest

from bench.quality.files import read_rows
from tests.semantic.contradiction_cases import CASES, score_contradictions, split_words

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


def said(*texts: str) -> list[dict[str, str]]:
    at = "2024-03-0{}T10:00:00+00:00"
    return [
        {"name": "Bo", "role": "user", "text": text, "at": at.format(day)}
        for day, text in enumerate(texts, start=1)
    ]


def test_contradictions_are_judged_by_group() -> None:
    moved = said("I live in Lisbon with my sister.", "I moved to Porto last week.")
    cases: list[dict[str, Any]] = [
        {"id": "city-1", "messages": moved, "held": [["Bo", "Porto"]], "not_held": ["in Lisbon"],
         "known_before": ["Lisbon"]},
        {"id": "city-2", "messages": moved, "held": ["Lisbon"], "not_held": [], "known_before": []},
        {"id": "city-3", "messages": moved, "not_held": ["in Porto"]},
        {"id": "tea", "messages": said("I love green tea."), "held": ["Bo tea"]},
    ]  # fmt: skip
    score = score_contradictions([CASES.validate_python(case) for case in cases])
    assert (score.cases, score.accuracy) == (4, 0.5)
    assert score.wrong == {
        "city-1": ["not_held ['Lisbon']", "known_before ['Lisbon']"],
        "city-3": ["not_held ['Porto']"],
    }
    assert (score.closed_wrongly, score.left_stale) == (0, 2)
    assert any("Porto" in text for text in score.ledgers["city-1"]["held"])


def test_an_expectation_is_its_content_words() -> None:
    assert split_words("Bo lives in Porto.") == ["Bo", "lives", "Porto"]
    assert split_words(["lives in", "Porto"]) == ["lives in", "Porto"]
