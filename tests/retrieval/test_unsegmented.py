"""What was just said can be retrieved, although no worker has run."""

from __future__ import annotations

import uuid

import pytest

from memoryproject.text.tokens import count_tokens
from tests.conftest import Agent
from tests.talk import whole_talk

pytestmark = pytest.mark.django_db


@pytest.fixture
def said(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    ana.post("add_messages", {"conversation_id": str(conversation), "messages": whole_talk()})
    ana.flush(conversation)
    ana.say(conversation, "My new bike is called Rosinante.", name="Mira")
    ana.say(conversation, "Noted.", name="Jonas", role="assistant")
    return conversation


def ask(agent: Agent, conversation: uuid.UUID, **extra: object) -> dict[str, object]:
    body = {"conversation_id": str(conversation), "query": "What is the bike called?", **extra}
    answer = agent.post("retrieve_memory/raw", body)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_a_message_is_in_the_answer_as_soon_as_it_is_stored(ana: Agent, said: uuid.UUID) -> None:
    answer = ask(ana, said, min_seq=18)
    contents = [row["content"] for row in answer["recent"]]
    assert contents == ["My new bike is called Rosinante.", "Noted."]
    assert (answer["indexed_through_seq"], answer["pending"]) == (16, 2)
    assert answer["semantic"], "memories are still found"


def test_without_the_field_nothing_changes(ana: Agent, said: uuid.UUID) -> None:
    assert ask(ana, said)["recent"] is None
    body = {"conversation_id": str(said), "query": "What is the bike called?"}
    assert b"Rosinante" not in ana.post("retrieve_memory", body).content


def test_what_is_indexed_by_then_is_not_shown_twice(ana: Agent, said: uuid.UUID) -> None:
    assert ask(ana, said, min_seq=16)["recent"] == []
    ana.flush(said)
    assert ask(ana, said, min_seq=18)["recent"] == []


def test_markdown_has_a_section_of_its_own(ana: Agent, said: uuid.UUID) -> None:
    body = {"conversation_id": str(said), "query": "bike", "min_seq": 17}
    text = ana.post("retrieve_memory", body).content.decode()
    section = text[text.index("## Recent Messages\n") :]
    assert 'Mira: "My new bike is called Rosinante."' in section


@pytest.mark.parametrize("budget", [5, 40, 80, 300])
def test_the_budget_holds_with_recent_messages_too(
    ana: Agent, said: uuid.UUID, budget: int
) -> None:
    body = {"conversation_id": str(said), "query": "bike", "min_seq": 18, "max_tokens": budget}
    text = ana.post("retrieve_memory", body).content.decode()
    assert count_tokens(text) <= budget
    assert budget < 80 or "Rosinante" in text


def test_of_a_long_window_the_matching_and_the_newest_are_shown(
    ana: Agent, conversation: uuid.UUID
) -> None:
    words = ["The parrot speaks Portuguese."] + [f"Remark {number}." for number in range(60)]
    batch = [{"role": "user", "content": content} for content in words]
    ana.post("add_messages", {"conversation_id": str(conversation), "messages": batch})
    body = {"conversation_id": str(conversation), "query": "parrot", "min_seq": 61}
    recent = ana.post("retrieve_memory/raw", body).json()["recent"]
    seqs = [row["seq"] for row in recent]
    assert (seqs[0], seqs[-1], len(seqs)) == (1, 61, 20)


def test_a_message_that_does_not_exist_yet_is_a_clear_error(ana: Agent, said: uuid.UUID) -> None:
    body = {"conversation_id": str(said), "query": "bike", "min_seq": 19}
    answer = ana.post("retrieve_memory/raw", body)
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["min_seq"])


def test_an_unknown_conversation_is_empty_whatever_is_asked(cleo: Agent, said: uuid.UUID) -> None:
    answer = ask(cleo, said, min_seq=18)
    assert (answer["recent"], answer["semantic"], answer["episodic"]) == ([], [], [])
