"""Closeness alone merges too much: details must agree."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from semantic.evaluation import score_merges
from semantic.merge import is_same_fact, says_no_more
from tests.semantic.fact_makers import embed

PAIRS = Path(__file__).with_name("merges.jsonl")


def read_pairs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]


def test_labelled_pairs_are_merged_with_precision() -> None:
    score = score_merges(read_pairs(), embed=embed)
    sys.stdout.write(f"merge: {score.pairs} pairs, P {score.precision:.3f}, R {score.recall:.3f}\n")
    assert score.pairs >= 100
    assert score.precision >= 0.98, score.false_merges
    assert score.recall >= 0.9, score.missed_merges


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Bo has two cats.", "Bo has three cats."),
        ("Bo lives in Porto.", "Ana lives in Porto."),
        ("Bo likes tea.", "Bo doesn't like tea."),
        ("Bo ran on Monday.", "Bo ran on Tuesday."),
        ("Ana lent Bo a book.", "Bo lent Ana a book."),
        ("Bo prefers tea to coffee.", "Bo prefers coffee to tea."),
        ("小明住在北京。", "小明住在上海。"),
    ],
)
def test_facts_that_differ_in_a_detail_stay_apart(a: str, b: str) -> None:
    assert not is_same_fact(a, b, category_a="identity", category_b="identity", cosine=0.99)


def test_a_repetition_in_other_words_is_merged() -> None:
    a, b = "Bo has two cats.", "Bo has 2 cats now."
    assert is_same_fact(a, b, category_a="identity", category_b="identity", cosine=0.97)


def test_another_category_or_a_lower_cosine_is_not_merged() -> None:
    fact = "Bo plays chess."
    assert not is_same_fact(fact, fact, category_a="interest", category_b="goal", cosine=1.0)
    assert not is_same_fact(fact, fact, category_a="goal", category_b="goal", cosine=0.949)


def test_a_shorter_retelling_says_no_more() -> None:
    held = "Bo has been volunteering at a homeless shelter and it's really rewarding."
    assert says_no_more("Bo is still volunteering at the homeless shelter.", held)
    assert not says_no_more("Bo is volunteering at a homeless shelter on Monday.", held)
    assert not says_no_more("Ana is volunteering at the homeless shelter.", held)
    assert not says_no_more("Bo stopped volunteering at the homeless shelter.", held)
