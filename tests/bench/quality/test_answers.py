"""Evidence and a reader's replies for questions of public benchmarks, on small chats of our own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from bench.quality.answers import score
from bench.quality.chats import Question
from bench.tables import find_interval
from episodic.models import Conversation, Message
from memoryproject import embedded
from memoryproject.tenancy.models import Tenant
from tests.bench.quality.samples import figures, locomo, measure, read, write
from tests.model_server import Asked, Reply, fails, run_model_server, says
from tests.server import throwaway_folder
from tests.talk import MOVING, RUNNING
from tests.template import for_benchmarks
from wings.transfer.loading import UnreadableFile

CHAT = {
    "id": "one",
    "messages": [
        {"id": "a", "role": "user", "content": "I moved to Porto.", "at": "2026-03-02 (Monday)"},
        {"id": "b", "role": "assistant", "content": "How nice!", "at": None},
        {"id": "c", "role": "user", "content": "My dog is Rex.", "at": "2026-03-02T09:02:00Z"},
    ],
    "questions": [
        {"id": "q1", "q": "Where did I move?", "kind": "fact", "gold": ["a"], "answer": "Porto"},
        {"id": "q2", "q": "What is my cat called?", "kind": "abstention"},
        {"id": "q3", "q": "Where did I move?", "kind": "fact", "gold": ["a"], "after": 1},
        {"id": "q4", "q": "My dog?\n\n(a) Max\n(b) Rex", "kind": "choice", "answer": ["Rex", "b"]},
    ],
}
DATES = ["2023/05/20 (Sat) 02:21", "2023/04/02 (Sun) 18:05"]
QUESTION = {
    "question": "Where is Mira moving?",
    "answer": "Rotterdam",
    "evidence": ["D1:1"],
    "category": 4,
}


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


def question(number: str, text: str) -> dict[str, Any]:
    """Return one of LongMemEval's questions with its history."""
    return {
        "question_id": number,
        "question_type": "single-session-user",
        "question": text,
        "answer": "see the session",
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_dates": DATES,
        "haystack_session_ids": ["moving", "running"],
        "haystack_sessions": [say(MOVING, "Rotterdam"), say(RUNNING, "marathon")],
    }


WHERE = question("q1", "Where is Mira moving?")
WHAT = question("q2", "What does Mira train for?")
NEVER = question("q3_abs", "What does Mira play?")


@pytest.mark.django_db
def test_evidence_is_counted_and_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path, out = tmp_path / "longmemeval_s.json", tmp_path / "run.jsonl"
    path.write_text(json.dumps([WHERE]))
    first, of_kind = figures("answers", path, "--out", out, "--max-tokens", 300)["kinds"]
    assert first == of_kind | {"kind": "all"}
    assert (first["questions"], first["found"], first["named"]) == (1, 1, 1)
    tenant = Tenant.objects.get(name="answers")
    said = Message.objects.of(tenant).order_by("seq")
    assert said[0].metadata == {"id": "running:0"}  # the earlier one first

    path.write_text(json.dumps([WHERE, WHAT, NEVER]))
    again = figures("answers", path, "--out", out, "--max-tokens", 300)["kinds"]
    assert again[0]["questions"] == 2
    assert [row["qid"] for row in read(out)] == ["q1", "q2"]
    assert Conversation.objects.of(tenant).count() == 2


@pytest.mark.django_db
def test_sessions_are_conversations_of_one_user_who_is_asked_in_a_new_one(tmp_path: Path) -> None:
    path, out = locomo(tmp_path / "locomo.json", {}, [QUESTION]), tmp_path / "run.jsonl"
    measure("answers", path, "--out", out, "--max-tokens", 200, "--sessions")
    (row,) = read(out)
    assert (row["sample_id"], row["qid"], row["kind"], row["found"]) == ("conv-0", 0, "one step", 1)
    assert "Rotterdam" in row["units"][0]["text"]
    assert "D1:1" in {key for unit in row["units"] for key in unit["dia_ids"]}
    tenant = Tenant.objects.get(name="answers")
    users = Conversation.objects.of(tenant).values_list("user_id", flat=True)
    assert [*users] == ["conv-0", "conv-0"]


@pytest.mark.django_db
def test_replies_are_judged_and_what_a_failed_call_left_is_asked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = write(tmp_path / "chats.jsonl", CHAT), tmp_path / "rows.jsonl"
    is_down = True

    def reply(asked: Asked) -> Reply:
        (prompt,) = (message["content"] for message in asked.body["messages"])
        if asked.body["model"] == "judge":
            assert "I moved" not in prompt  # it sees the reply alone
            return says(f"1. …\nMET: {int('To Porto' in prompt)}")
        if "cat" in prompt:
            return fails(400) if is_down else says("Your cat is Tom.")
        return says("(b)" if "dog?" in prompt else "To Porto.")

    with run_model_server() as server:
        server.always("plain", reply)
        models = [f"--reader={server.url}", "--reader-model=reader"]
        models += [f"--judge={server.url}", "--judge-model=judge"]
        cost = measure("answers", path, *models, "--only-cost")
        assert cost.startswith("5 calls of models, about ") and not server.asked
        first = figures("answers", path, *models, "--out", out)
        assert capsys.readouterr().err.startswith(cost)
        assert first["left"] == 1 and len(server.asked) == 4
        is_down = False
        again = figures("answers", path, *models, "--out", out)
        assert again["left"] == 0 and len(server.asked) == 6
    right = {line["kind"]: (line["judged"], line["right"]) for line in again["kinds"]}
    assert right == {"all": (3, 0.667), "abstention": (1, 0), "choice": (1, 1), "fact": (1, 1)}
    assert {row["qid"]: row["points"] for row in read(out)} == {"q1": 1, "q2": 0, "q4": 1}


def test_a_message_of_which_little_is_shown_is_named_and_not_found() -> None:
    units = [{"text": "… Porto …", "dia_ids": ["a"]}]
    gold = {"a": frozenset({"move", "porto", "river", "hous"}), "b": frozenset({"porto"})}
    assert score(units, gold) == {"found": 0.0, "named": 0.5}


def test_exact_answers_are_whole_words_and_a_choice_is_its_letter() -> None:
    exact = Question(id=1, q="Where?", kind="exact", answers=["New York"])
    assert exact.check("In *New  York*.") and not exact.check("New Yorkshire")
    choice = Question(id=1, q="Which?\n\n(a) One\n(b) Two", kind="choice", answer=["Two", "b"])
    assert choice.topic == "Which?"
    assert choice.check("**(B)** Two") and not choice.check("a") and not choice.check("Both")


@pytest.mark.parametrize(
    ("right", "count", "low", "high"),
    [(0, 0, 0, 1), (0, 10, 0, 0.278), (8, 10, 0.490, 0.943), (142, 151, 0.891, 0.968)],
)
def test_an_interval_is_wilsons(right: int, count: int, low: float, high: float) -> None:
    assert find_interval(right, count) == pytest.approx((low, high), abs=0.0006)


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
        figures("answers", path)


@pytest.mark.bench
def test_a_run_makes_its_own_database_and_stops_it(tmp_path: Path) -> None:
    path, out = locomo(tmp_path / "locomo.json", {}, [QUESTION]), tmp_path / "run.jsonl"
    with throwaway_folder() as folder:
        environment = {
            key: value for key, value in for_benchmarks().items() if key != "DATABASE_URL"
        }
        done = subprocess.run(
            [sys.executable, "-m", "bench.quality", "answers", str(path), "--out", str(out)],
            cwd=settings.BASE_DIR,
            env=environment | {"MEMORY_DATA_DIR": str(folder / "var")},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert (folder / "var" / "postgres").exists()
        assert embedded.find_running(folder / "var") is None
    assert len(read(out)) == 1
