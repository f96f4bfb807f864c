"""Evidence in answers to the questions of a public benchmark, on a small chat of our own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.quality.public import score
from tests.bench.quality.samples import measure, read

CHAT = {
    "id": "one",
    "messages": [
        {"id": "a", "role": "user", "content": "I moved to Porto.", "at": "2026-03-02T09:00:00Z"},
        {"id": "b", "role": "assistant", "content": "How nice!", "at": "2026-03-02T09:01:00Z"},
        {"id": "c", "role": "user", "content": "My dog is Rex.", "at": "2026-03-02T09:02:00Z"},
    ],
    "questions": [
        {"id": "q1", "q": "Where did I move?", "kind": "fact", "gold": ["a"]},
        {"id": "q2", "q": "What is my cat called?", "kind": "abstention", "gold": []},
        {"id": "q3", "q": "Where did I move?", "kind": "fact", "gold": ["a"], "after": 1},
    ],
}


@pytest.mark.django_db
def test_questions_with_evidence_are_asked_and_what_answers_show_is_counted(tmp_path: Path) -> None:
    path, out = tmp_path / "chats.jsonl", tmp_path / "rows.jsonl"
    path.write_text(json.dumps(CHAT) + "\n")
    measure("public", path, "--out", out, "--max-tokens", "200")
    assert read(out) == [
        {"chat": "one", "id": "q1", "kind": "fact", "found@200": 1.0, "named@200": 1.0}
    ]


def test_a_message_of_which_little_is_shown_is_named_and_not_found() -> None:
    answer = {"blocks": [{"text": "… Porto …", "sources": [{"metadata": {"id": "a"}}]}]}
    gold = {"a": frozenset({"move", "porto", "river", "hous"}), "b": frozenset({"porto"})}
    assert score(answer, gold) == (0.0, 0.5)
