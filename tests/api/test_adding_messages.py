"""What posting a message answers and stores."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from episodic.models import Conversation, Message, Role
from memoryproject.edge.fields import say_moment
from tests.api.threads import THREADS, run_in_threads
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import bo as bo
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation

pytestmark = pytest.mark.django_db


def stored(agent: Agent, conversation: uuid.UUID) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = agent.get(
        "messages", conversation_id=conversation, limit=200
    ).json()["items"]
    return items


def test_the_answer_tells_where_the_message_was_stored(ana: Agent, conversation: uuid.UUID) -> None:
    first, second = ana.say(conversation, "Hello."), ana.say(conversation, "Anybody?")
    assert set(first) == {"conversation_id", "message_id", "seq", "pending"}
    assert first["conversation_id"] == str(conversation)
    assert [first["seq"], second["seq"]] == [1, 2]
    assert [first["pending"], second["pending"]] == [1, 2]
    assert [first["message_id"], second["message_id"]] == [
        item["id"] for item in stored(ana, conversation)
    ]


def test_a_batch_is_stored_in_order(ana: Agent, conversation: uuid.UUID) -> None:
    ana.say(conversation, "before")
    said = [{"role": "user", "content": str(number)} for number in range(500)]
    body = {"conversation_id": str(conversation), "messages": said}
    answer = ana.post("add_messages", body)
    assert answer.status_code == 201
    assert set(answer.json()) == {"conversation_id", "messages", "pending"}
    assert [place["seq"] for place in answer.json()["messages"]] == list(range(2, 502))
    assert answer.json()["pending"] == 501
    rows = Message.objects.of(ana.tenant).order_by("seq").values_list("content", flat=True)
    assert list(rows) == ["before", *map(str, range(500))]


@pytest.mark.parametrize("role", Role.values)
def test_every_role_is_kept(ana: Agent, conversation: uuid.UUID, role: str) -> None:
    ana.say(conversation, "Hello.", role=role)
    assert stored(ana, conversation)[0]["role"] == role


MOMENTS = [
    (0, "1970-01-01T00:00:00Z"),
    (1772442000123, "2026-03-02T09:00:00.123000Z"),
    ("2026-03-02T09:00:00Z", "2026-03-02T09:00:00Z"),
    ("2026-03-02T09:00:00z", "2026-03-02T09:00:00Z"),
    ("2026-03-02T09:00Z", "2026-03-02T09:00:00Z"),
    ("2026-03-02 09:00:00+00:00", "2026-03-02T09:00:00Z"),
    ("2026-03-02T09:00:00.123456Z", "2026-03-02T09:00:00.123456Z"),
    ("2026-03-02T09:00:00.5Z", "2026-03-02T09:00:00.500000Z"),
    ("2026-03-02T09:00:00-05:30", "2026-03-02T14:30:00Z"),
    ("2026-03-02T09:00:00+1400", "2026-03-01T19:00:00Z"),
    ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
]


def test_seconds_are_not_taken_for_milliseconds(ana: Agent, conversation: uuid.UUID) -> None:
    message = {"role": "user", "content": "Hello.", "timestamp": 1772442000}
    answer = ana.post("add_message", {"conversation_id": str(conversation), "message": message})
    assert answer.status_code == 400 and "looks like seconds" in answer.content.decode()


@pytest.mark.parametrize("given, kept", MOMENTS)
def test_a_time_is_kept_in_utc(
    ana: Agent, conversation: uuid.UUID, given: int | str, kept: str
) -> None:
    ana.say(conversation, "Hello.", timestamp=given)
    assert stored(ana, conversation)[0]["timestamp"] == kept


def test_a_time_of_a_clock_that_is_a_little_ahead_is_kept(
    ana: Agent, conversation: uuid.UUID
) -> None:
    ahead = timezone.now() + timedelta(hours=23)
    ana.say(conversation, "Hello.", timestamp=ahead.isoformat())
    assert stored(ana, conversation)[0]["timestamp"] == say_moment(ahead)


@pytest.mark.parametrize("given", [{}, {"timestamp": None}])
def test_a_message_without_a_time_was_said_now(
    ana: Agent, conversation: uuid.UUID, given: dict[str, None]
) -> None:
    before = datetime.now(UTC)
    ana.say(conversation, "Hello.", **given)
    said = datetime.fromisoformat(stored(ana, conversation)[0]["timestamp"])
    assert before <= said <= datetime.now(UTC)


def test_null_in_an_optional_field_is_absence(ana: Agent, conversation: uuid.UUID) -> None:
    ana.say(conversation, "Hello.", timestamp=None, name=None, metadata=None)
    item = stored(ana, conversation)[0]
    assert (item["name"], item["metadata"], item["episode_id"]) == (None, {}, None)


def test_an_id_in_capitals_names_the_same_conversation(ana: Agent, conversation: uuid.UUID) -> None:
    ana.say(conversation, "Hello.")
    body = {
        "conversation_id": str(conversation).upper(),
        "message": {"role": "user", "content": "Again."},
    }
    assert ana.post("add_message", body).json()["seq"] == 2
    assert len(ana.get("messages", conversation_id=str(conversation).upper()).json()["items"]) == 2
    state = ana.get(f"conversations/{str(conversation).upper()}")
    assert state.status_code == 200 and state.json()["messages"] == 2


def test_the_charset_of_the_content_type_does_not_matter(
    ana: Agent, conversation: uuid.UUID
) -> None:
    body = f'{{"conversation_id": "{conversation}", "message": {{"role": "user", "content": "é"}}}}'
    for content_type in ("application/json; charset=utf-8", "Application/JSON"):
        answer = ana.client.generic(
            "POST", "/api/v0/add_message", body.encode(), content_type=content_type
        )
        assert answer.status_code == 201


def test_a_stranger_starts_a_conversation_of_his_own_under_the_same_id(
    ana: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    ana.say(conversation, "ana's secret")
    answer = cleo.say(conversation, "cleo's")
    assert (answer["seq"], answer["pending"]) == (1, 1)
    assert [item["content"] for item in stored(ana, conversation)] == ["ana's secret"]
    assert [item["content"] for item in stored(cleo, conversation)] == ["cleo's"]


def test_a_colleague_writes_into_the_same_conversation(
    ana: Agent, bo: Agent, conversation: uuid.UUID
) -> None:
    ana.say(conversation, "Hello.")
    assert bo.say(conversation, "Hello, ana.")["seq"] == 2


@pytest.mark.django_db(transaction=True)
def test_places_stay_dense_when_many_write_at_once(ana: Agent, conversation: uuid.UUID) -> None:
    each = 10

    def write(index: int) -> list[int]:
        return [ana.say(conversation, f"{index}.{turn}")["seq"] for turn in range(each)]

    seqs = run_in_threads(write)
    assert sorted(seq for own in seqs for seq in own) == list(range(1, THREADS * each + 1))
    assert all(own == sorted(own) for own in seqs)
    assert Conversation.objects.of(ana.tenant).count() == 1
    rows = Message.objects.of(ana.tenant).order_by("seq")
    assert [row.seq for row in rows] == list(range(1, THREADS * each + 1))
    ids = [row.id for row in rows]
    assert ids == sorted(ids)
    state = ana.get(f"conversations/{conversation}").json()
    assert (state["messages"], state["pending"]) == (80, 80)
