"""Closeness alone merges too much: details must agree."""

import sys
from pathlib import Path

import pytest

from bench.quality.files import read_rows
from bench.quality.merges import PAIRS, score_merges
from semantic.duplicates import is_near_duplicate, is_same_fact

PATH = Path(__file__).with_name("merges.jsonl")


@pytest.mark.gate
def test_labelled_pairs_are_merged_with_precision() -> None:
    score = score_merges(read_rows(PATH, PAIRS))
    sys.stdout.write(f"merge: {score.pairs} pairs, P {score.precision:.3f}, R {score.recall:.3f}\n")
    assert score.pairs >= 100
    assert score.precision >= 0.98, score.false_merges
    assert score.recall >= 0.6, score.missed_merges


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


def test_near_facts_of_which_one_says_more_are_for_a_person_to_merge() -> None:
    def is_near(a: str, b: str) -> bool:
        return is_near_duplicate(a, b, category_a="goal", category_b="goal", cosine=0.96)

    assert is_near("Bo speaks Dutch.", "Bo speaks Dutch at home.")
    assert not is_near("Bo plays the violin.", "Bo plays the viola.")
    assert not is_near("Bo has two cats.", "Bo has three cats.")
