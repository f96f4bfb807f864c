"""The newest episodes, by when they were made."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from episodic.models import Episode
from retrieval.models import Retrieval
from tests.conftest import Agent

pytestmark = pytest.mark.django_db


def recent(agent: Agent, conversation: uuid.UUID, **fields: Any) -> list[dict[str, Any]]:
    body = {"conversation_id": str(conversation), **fields}
    answer = agent.post("recent_memory/raw", body)
    assert answer.status_code == 200, answer.content
    items: list[dict[str, Any]] = answer.json()
    assert isinstance(items, list)
    return items


@pytest.fixture(scope="module")
def episodes(ana: Agent, told: uuid.UUID) -> list[Episode]:
    """The two episodes in order of what was said; the first was made a day after the second."""
    first, second = Episode.objects.of(ana.tenant).order_by("first_seq")
    for episode, days in ((first, 2), (second, 3)):
        made = timezone.now() - timedelta(days=days, hours=1)
        Episode.objects.of(ana.tenant).filter(id=episode.id).update(created_at=made)
    return [first, second]


def test_the_newest_made_comes_first(ana: Agent, told: uuid.UUID, episodes: list[Episode]) -> None:
    assert [item["id"] for item in recent(ana, told)] == [str(row.id) for row in episodes]
    text = ana.post("recent_memory", {"conversation_id": str(told)}).content.decode()
    assert text.startswith(f"## Episodic Memories\n\n### {episodes[0].title}")
    assert text.index(episodes[0].title) < text.index(episodes[1].title)
    assert "rank" not in text and "score" not in text


def test_an_episode_holds_its_messages_and_no_score(ana: Agent, told: uuid.UUID) -> None:
    for item in recent(ana, told):
        assert set(item) == {
            "id", "conversation_id", "messages", "title", "summary", "stability", "difficulty",
            "surprise", "start_at", "end_at", "created_at", "last_reviewed_at", "consolidated_at",
        }  # fmt: skip
        assert item["conversation_id"] == str(told)
        assert len(item["messages"]) == 8
        assert all(set(message) == {"role", "content"} for message in item["messages"])


def test_an_answer_ends_early_where_episodes_are_too_large_and_says_so(
    ana: Agent, told: uuid.UUID, episodes: list[Episode], settings: Any
) -> None:
    settings.PAGE_BYTES = 1  # less than any message: an answer has one episode
    body = {"conversation_id": str(told)}
    answer = ana.post("recent_memory/raw", body)
    assert [item["id"] for item in answer.json()] == [str(episodes[0].id)]
    assert answer["Memory-Cut"] == "1"
    raw = ana.post("retrieve_memory/raw", {**body, "query": "Where does Mira run?"})
    (served,) = raw.json()["episodic"]
    (left_out,) = {str(row.id) for row in episodes} - {served["id"]}
    assert raw.json()["cut"] == [left_out] and raw["Memory-Cut"] == "1"


def test_the_limit_is_kept(ana: Agent, told: uuid.UUID, episodes: list[Episode]) -> None:
    assert [item["id"] for item in recent(ana, told, limit=1)] == [str(episodes[0].id)]
    assert len(recent(ana, told, limit=100)) == 2


@pytest.mark.parametrize("days, found", [(1, 0), (2, 0), (3, 1), (4, 2), (36_500, 2), (None, 2)])
def test_only_so_many_days_back(
    ana: Agent, told: uuid.UUID, episodes: list[Episode], days: int | None, found: int
) -> None:
    assert len(recent(ana, told, days_limit=days)) == found


def test_of_an_unknown_conversation_there_is_none(ana: Agent) -> None:
    conversation = uuid.uuid4()
    assert recent(ana, conversation) == []
    assert ana.post("recent_memory", {"conversation_id": str(conversation)}).content == b""


def test_nothing_awaits_a_review(ana: Agent, told: uuid.UUID) -> None:
    recent(ana, told)
    assert not Retrieval.objects.of(ana.tenant).exists()
