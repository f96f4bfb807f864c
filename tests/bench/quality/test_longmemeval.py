"""Evidence in answers to LongMemEval's questions, on two small histories of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from episodic.models import Conversation, Message
from memoryproject.tenancy.models import Tenant
from tests.bench.quality.samples import figures, read
from tests.talk import MOVING, RUNNING
from wings.transfer.loading import UnreadableFile

DATES = ["2023/05/20 (Sat) 02:21", "2023/04/02 (Sun) 18:05"]


def say(lines: list[tuple[str, str]], answer: str) -> list[dict[str, Any]]:
    """Return a session, its speakers as user and assistant, with the turn of the answer marked."""
    return [
        {
            "role": "user" if name == "Mira" else "assistant",
            "content": text,
            **({"has_answer": True} if answer in text else {}),
        }
        for name, text in lines
    ]


def question(number: str, text: str, session: str) -> dict[str, Any]:
    return {
        "question_id": number,
        "question_type": "single-session-user",
        "question": text,
        "answer": "see the session",
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_dates": DATES,
        "haystack_session_ids": ["moving", "running"],
        "haystack_sessions": [say(MOVING, "Rotterdam"), say(RUNNING, "marathon")],
        "answer_session_ids": [session],
    }


WHERE = question("q1", "Where is Mira moving?", "moving")
WHAT = question("q2", "What does Mira train for?", "running")
NEVER = question("q3_abs", "What does Mira play?", "running")


@pytest.mark.django_db
def test_evidence_is_counted_and_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path, out = tmp_path / "longmemeval_s.json", tmp_path / "run.jsonl"
    path.write_text(json.dumps([WHERE]))
    (first, of_kind) = figures("longmemeval", path, "--out", out, "--max-tokens", 300)
    assert first == of_kind | {"kind": "all"}
    assert (first["questions"], first["found@300"], first["named@300"]) == (1, 1, 1)
    tenant = Tenant.objects.get(name="public")
    said = Message.objects.of(tenant).order_by("seq")
    assert said[0].metadata == {"id": "running:0"}  # the earlier one first

    path.write_text(json.dumps([WHERE, WHAT, NEVER]))
    again = figures("longmemeval", path, "--out", out, "--max-tokens", 300)
    assert again[0]["questions"] == 2
    assert [row["id"] for row in read(out)] == ["q1", "q2"]
    assert Conversation.objects.of(tenant).count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize(
    "content",
    ["", "{}x", "[{}]", json.dumps([WHERE | {"haystack_dates": ["May"]}]),
     json.dumps([WHERE | {"haystack_session_ids": ["moving"]}]), json.dumps([NEVER])],
)  # fmt: skip
def test_a_file_of_another_form_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(UnreadableFile):
        figures("longmemeval", path)
