"""Too many messages that wait for their episodes: no more are taken, and none is lost."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from django.core.cache import cache
from pytest_django import Settings

from episodic import room
from episodic.models import Message
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.talk import MORNING, MOVING, messages

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def counted_anew() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def add(agent: Agent, conversation: uuid.UUID, count: int, key: str = "") -> object:
    said = messages(MOVING, MORNING)[:count]
    headers = {"Idempotency-Key": key} if key else {}
    body = {"conversation_id": str(conversation), "messages": said}
    return agent.post("add_messages", body, **headers)


def test_a_full_conversation_takes_no_more_until_its_messages_are_in_episodes(
    ana: Agent, conversation: uuid.UUID, settings: Settings
) -> None:
    settings.MAX_PENDING = 10
    assert add(ana, conversation, 8, key="first").status_code == 201
    full = add(ana, conversation, 3, key="second")
    problem = assert_problem(full, 429)
    assert (problem["code"], full["Retry-After"]) == ("too_many", str(room.RETRY_AFTER_S))
    assert add(ana, conversation, 8, key="first").status_code == 200, "a replay needs no room"
    assert add(ana, conversation, 2).status_code == 201, "what fits is taken"
    assert add(ana, uuid.uuid4(), 8).status_code == 201, "others have room"
    assert Message.objects.of(ana.tenant).count() == 18
    ana.flush(conversation)
    assert add(ana, conversation, 3, key="second").status_code == 201


def test_a_full_tenant_takes_no_more_and_another_does(
    ana: Agent, cleo: Agent, conversation: uuid.UUID, settings: Settings
) -> None:
    settings.MAX_PENDING_TENANT = 10
    assert add(ana, conversation, 8).status_code == 201
    cache.clear()
    assert_problem(add(ana, uuid.uuid4(), 3), 429)
    assert add(cleo, uuid.uuid4(), 3).status_code == 201
    assert (
        ana.post(
            "retrieve_memory", {"conversation_id": str(conversation), "query": "boxes"}
        ).status_code
        == 200
    )
