"""Closeness alone merges too much: details must agree."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from memoryproject.ai.embeddings import embed_passages
from semantic.duplicates import is_near_duplicate, is_same_fact
from semantic.engines import fact_embedding_text

PATH = Path(__file__).with_name("merges.jsonl")


@pytest.mark.gate
def test_labelled_pairs_are_merged_with_precision() -> None:
    pairs = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]
    merged = {pair["id"] for pair in pairs if is_merged(pair)}
    same = {pair["id"] for pair in pairs if pair["same"]}
    precision, recall = len(merged & same) / len(merged), len(merged & same) / len(same)
    sys.stdout.write(f"merge: {len(pairs)} pairs, P {precision:.3f}, R {recall:.3f}\n")
    assert len(pairs) >= 100
    assert precision >= 0.98, merged - same
    assert recall >= 0.6, same - merged


def is_merged(pair: dict[str, Any]) -> bool:
    """Return whether the rule takes two labelled facts for the same."""
    categories = [pair["category"], pair.get("category_b", pair["category"])]
    texts = [
        fact_embedding_text(category=category, fact=fact, keywords=())
        for category, fact in zip(categories, (pair["a"], pair["b"]), strict=True)
    ]
    a, b = embed_passages(texts)
    return is_same_fact(
        pair["a"],
        pair["b"],
        category_a=categories[0],
        category_b=categories[1],
        cosine=float(a @ b),
    )


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
