"""Whom a question names."""

from __future__ import annotations

import pytest

from retrieval.question import speakers_named


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Where does Mira work?", {"Mira Vos"}),
        ("where does MIRA VOS work?", {"Mira Vos"}),
        ("What did the assistant say?", {"assistant"}),
        ("Mira's and Jonas's plans", {"Mira Vos", "Jonas"}),
        ("What about miracles?", set()),
        ("小明住在哪里?", {"小明"}),
        ("", set()),
    ],
)
def test_speakers_are_found_by_name_or_first_name(question: str, named: set[str]) -> None:
    assert speakers_named(question, ["Mira Vos", "Jonas", "assistant", "小明", "(x"]) == named
