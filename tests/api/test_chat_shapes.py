"""Histories are taken as they are: in OpenAI's shapes, with times ahead, with long messages."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from episodic.models import Episode, Message
from tests.conftest import Agent

pytestmark = pytest.mark.django_db

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Porto"}'},
}


def store(ana: Agent, talk: uuid.UUID, *messages: dict[str, Any]) -> list[Message]:
    body = {"conversation_id": str(talk), "messages": messages}
    answer = ana.post("add_messages", body)
    assert answer.status_code == 201, answer.content
    ids = [stored["message_id"] for stored in answer.json()["messages"]]
    return [Message.objects.of(ana.tenant).get(id=stored) for stored in ids]


def test_an_openai_history_is_stored_whole(ana: Agent, conversation: uuid.UUID) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}
    parts = [{"type": "text", "text": "Is it warm"}, image, {"type": "text", "text": "here?"}]
    developer, asked, calls, result = store(
        ana,
        conversation,
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": parts, "metadata": {"page": 3}},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {
            "role": "tool",
            "tool_call_id": "call_1",
            "external_id": "msg_3",
            "content": "31 degrees",
        },
    )
    assert (developer.role, developer.content) == ("system", "Be brief.")
    assert asked.content == "Is it warm\n[image_url]\nhere?"
    assert asked.metadata == {"page": 3}
    assert calls.content == "[tool call: get_weather]"
    assert calls.metadata == {"tool_calls": [CALL]}
    assert (result.content, result.metadata) == (
        "31 degrees",
        {"external_id": "msg_3", "tool_call_id": "call_1"},
    )
    found = ana.get("messages", conversation_id=str(conversation), external_id="msg_3")
    assert [row["id"] for row in found.json()["items"]] == [str(result.id)]
    other = ana.get("messages", conversation_id=str(conversation), external_id="msg_4")
    assert other.json()["items"] == []


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"content": []}, "content"),
        ({"content": [{"text": "no type"}]}, "content"),
        ({"content": [{"type": "text", "text": 5}]}, "content"),
        ({"content": [{"type": "text", "text": " "}]}, "content"),
        ({"content": None, "tool_calls": []}, "content"),
        ({"tool_calls": [{"id": "call_1"}]}, "content"),
        ({"content": "hi", "tool_calls": {}}, "tool_calls"),
        ({"content": "hi", "tool_calls": [{"a": "b" * 20_000}]}, "metadata"),
    ],
)
def test_what_says_nothing_is_named(ana: Agent, message: dict[str, Any], field: str) -> None:
    body = {"conversation_id": str(uuid.uuid4()), "message": {"role": "assistant", **message}}
    answer = ana.post("add_message", body)
    assert answer.status_code in {400, 413}
    assert next(iter(answer.json()["fields"])).startswith(f"message.{field}")
    assert not Message.objects.of(ana.tenant).exists()


def test_times_ahead_are_kept_and_named_and_our_clocks_go_by_their_own(
    ana: Agent, conversation: uuid.UUID
) -> None:
    now = timezone.now()
    ahead, near = now + timedelta(days=400), now + timedelta(hours=3)
    body = {
        "conversation_id": str(conversation),
        "messages": [
            {"role": "user", "content": "I moved to Porto.", "timestamp": near.isoformat()},
            {"role": "user", "content": "I moved to Faro.", "timestamp": ahead.isoformat()},
        ],
    }
    first = ana.post("add_messages", body, **{"Idempotency-Key": "once"})
    assert first.json()["ahead"] == [2]
    assert ana.post("add_messages", body, **{"Idempotency-Key": "once"}).json() == first.json()
    assert Message.objects.of(ana.tenant).get(seq=2).occurred_at == ahead
    ana.flush(conversation)
    episode = Episode.objects.of(ana.tenant).latest("end_at")
    assert episode.end_at == ahead
    assert episode.created_at < timezone.now() and episode.last_reviewed_at < timezone.now()
    ask = {"conversation_id": str(conversation), "query": "Where did I move?", "max_tokens": 300}
    assert "Faro" in ana.post("retrieve_memory", ask).content.decode()
    said_now = ana.say(uuid.uuid4(), "It is warm.")
    assert "ahead" not in said_now


@pytest.mark.parametrize(
    "unit",
    ["天地玄黄宇宙洪荒日月盈昃", "x"],
    ids=["Chinese", "one word"],
)
def test_a_message_of_256_kib_is_stored_and_found(
    ana: Agent, conversation: uuid.UUID, unit: str
) -> None:
    end = " The gate code is 4471."
    text = unit * ((256 * 1024 - len(end)) // len(unit.encode())) + end
    ana.say(conversation, text)
    ask = {"conversation_id": str(conversation), "query": "gate code", "max_tokens": 300}
    drained = ana.flush(conversation)
    assert drained.dead == 0
    assert "4471" in ana.post("retrieve_memory", ask).content.decode()
