"""Lists come in pages that together hold everything once."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.conftest import Agent

pytestmark = pytest.mark.django_db


def all_pages(agent: Agent, call: str, **query: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        page = agent.get(call, **query, **after).json()
        assert set(page) == {"items", "next"}
        items += page["items"]
        if page["next"] is None:
            return items
        assert page["items"]
        after = {"after": page["next"]}


def test_messages_come_oldest_first(ana: Agent, told: uuid.UUID) -> None:
    for limit in (1, 3, 8, 16, 200):
        items = all_pages(ana, "messages", conversation_id=told, limit=limit)
        assert [item["seq"] for item in items] == list(range(1, 17))


@pytest.mark.parametrize("call", ["episodes", "facts", "retrievals", "changesets"])
def test_other_lists_come_newest_first(ana: Agent, told: uuid.UUID, call: str) -> None:
    for _ in range(3):
        ana.post("retrieve_memory", {"conversation_id": str(told), "query": "piano"})
    ana.say(told, "I adopted a cat called Pixel.", name="Mira")
    ana.flush(told)
    whole = ana.get(call, conversation_id=told).json()["items"]
    assert len(whole) > 1
    assert [item["id"] for item in whole] == sorted((item["id"] for item in whole), reverse=True)
    assert all_pages(ana, call, limit=1) == whole == all_pages(ana, call, limit=2)


def test_facts_are_filtered_by_category_and_state(ana: Agent, told: uuid.UUID) -> None:
    whole = all_pages(ana, "facts", state="all")
    for category in {item["category"] for item in whole}:
        some = all_pages(ana, "facts", category=category, state="all", limit=1)
        assert some == [item for item in whole if item["category"] == category]
    for state, invalid in (("active", False), ("invalid", True)):
        some = all_pages(ana, "facts", state=state)
        assert some == [item for item in whole if (item["invalid_at"] is not None) is invalid]
