"""A request sent again under its Idempotency-Key stores nothing and gets the first answer."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from episodic.models import Conversation, Message
from tests.api.problems import assert_problem
from tests.api.threads import run_in_threads
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation

pytestmark = pytest.mark.django_db


def one(conversation: uuid.UUID, content: str = "Hello.", **fields: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content, **fields}
    return {"conversation_id": str(conversation), "message": message}


def several(conversation: uuid.UUID, *contents: str) -> dict[str, Any]:
    said = [{"role": "user", "content": content} for content in contents]
    return {"conversation_id": str(conversation), "messages": said}


def send(agent: Agent, call: str, body: Any, key: str = "key-1") -> Any:
    return agent.post(call, body, **{"Idempotency-Key": key})


def count(agent: Agent) -> int:
    return Message.objects.of(agent.tenant).count()


def test_a_repeated_message_gets_the_very_first_answer(ana: Agent, conversation: uuid.UUID) -> None:
    ana.say(conversation, "before")
    first = send(ana, "add_message", one(conversation))
    assert first.status_code == 201 and "Idempotent-Replayed" not in first
    ana.say(conversation, "meanwhile")
    again = send(ana, "add_message", one(conversation))
    assert (again.status_code, again["Idempotent-Replayed"]) == (200, "true")
    assert again.json() == first.json()
    assert again.json()["pending"] == 2
    assert count(ana) == 3


def test_a_repeated_message_gets_it_also_after_segmentation(
    ana: Agent, conversation: uuid.UUID
) -> None:
    first = send(ana, "add_message", one(conversation))
    ana.flush(conversation)
    assert send(ana, "add_message", one(conversation)).json() == first.json()


def test_a_repeated_batch_gets_the_very_first_answer(ana: Agent, conversation: uuid.UUID) -> None:
    body = several(conversation, "a", "b", "c")
    first = send(ana, "add_messages", body)
    ana.say(conversation, "meanwhile")
    again = send(ana, "add_messages", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again["Idempotent-Replayed"] == "true"
    assert again.json() == first.json()
    assert again.json()["pending"] == 3
    assert count(ana) == 4


def test_the_same_json_written_differently_is_the_same_request(
    ana: Agent, conversation: uuid.UUID
) -> None:
    send(ana, "add_message", one(conversation, "é"))
    text = (
        f'{{ "message": {{"content": "\\u00e9", "role": "user"}},'
        f' "conversation_id": "{conversation}" }}'
    )
    assert send(ana, "add_message", text).status_code == 200


@pytest.mark.parametrize(
    "changed",
    [{"content": "Hello. "}, {"role": "assistant"}, {"name": "Ana"}, {"metadata": {"a": 1}}],
)
def test_another_request_under_the_same_key_is_a_conflict(
    ana: Agent, conversation: uuid.UUID, changed: dict[str, Any]
) -> None:
    send(ana, "add_message", one(conversation))
    body = one(conversation)
    body["message"] |= changed
    assert assert_problem(send(ana, "add_message", body), 409)["code"] == "conflict"
    assert count(ana) == 1


def test_another_batch_under_the_same_key_is_a_conflict(
    ana: Agent, conversation: uuid.UUID
) -> None:
    send(ana, "add_messages", several(conversation, "a", "b"))
    for contents in (["a"], ["b", "a"], ["a", "b", "c"]):
        assert_problem(send(ana, "add_messages", several(conversation, *contents)), 409)
    assert_problem(send(ana, "add_message", one(conversation, "a")), 409)
    assert count(ana) == 2


def test_a_key_belongs_to_its_conversation(ana: Agent, conversation: uuid.UUID) -> None:
    other = uuid.uuid4()
    answers = [send(ana, "add_message", one(place)) for place in (conversation, other)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert count(ana) == 2


def test_a_key_belongs_to_its_tenant(ana: Agent, cleo: Agent, conversation: uuid.UUID) -> None:
    send(ana, "add_message", one(conversation, "ana's"))
    assert send(cleo, "add_message", one(conversation, "cleo's")).status_code == 201
    assert (count(ana), count(cleo)) == (1, 1)


def test_a_refused_request_does_not_use_its_key_up(ana: Agent, conversation: uuid.UUID) -> None:
    assert_problem(send(ana, "add_message", one(conversation, " ")), 400)
    assert send(ana, "add_message", one(conversation)).status_code == 201


@pytest.mark.parametrize("key", ["k", "k" * 255, "a b", "'; --", "%00", "{}"])
def test_any_printable_ascii_is_a_key(ana: Agent, conversation: uuid.UUID, key: str) -> None:
    statuses = [send(ana, "add_message", one(conversation), key).status_code for _ in range(2)]
    assert statuses == [201, 200]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("known", [False, True], ids=["a new conversation", "a known one"])
def test_of_many_at_once_one_is_stored_and_all_get_its_answer(
    ana: Agent, conversation: uuid.UUID, known: bool
) -> None:
    if known:
        ana.say(conversation, "before")
    body = several(conversation, "a", "b")
    answers = run_in_threads(lambda index: send(ana, "add_messages", body))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert all(answer.json() == answers[0].json() for answer in answers)
    assert count(ana) == known + 2
    assert Conversation.objects.of(ana.tenant).count() == 1
