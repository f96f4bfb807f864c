"""The examples of the third specification document over HTTP, as it writes them."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.conftest import Agent
from tests.notes.graphs import write

pytestmark = pytest.mark.django_db

QUERY = "do you remember anything?"
RETURNED = [
    "id", "content", "user_id", "category", "importance", "emotion_type", "emotion_intensity",
    "emotion_valence", "timestamp", "linked_memory_ids", "tags", "file_path", "_distance",
]  # fmt: skip
"""What the document's example of a result has."""


@pytest.fixture(scope="module")
def remembered(ana: Agent, conversation: uuid.UUID) -> tuple[str, str]:
    """A note of a user that is about something to remember, and another linked with it."""
    about = {"user_id": "user", "category": "episodic", "importance": 0.95}
    feeling = {"emotion_type": "curiosity", "emotion_intensity": 0.81,
               "emotion_valence": "positive"}  # fmt: skip
    first = write(ana, "Do you remember anything? User repeatedly asks.", **about, **feeling)
    other = write(ana, "The lamp of the harbour is green.")
    ends = {"from_id": first, "to_id": other, "link_type": "relates_to"}
    assert ana.post("links", ends).status_code == 201
    ana.say(conversation, "Do you remember anything of the harbour?")
    ana.flush(conversation)
    return first, other


def test_the_complete_retrieval_example(ana: Agent, remembered: tuple[str, str]) -> None:
    since = (timezone.now() - timedelta(days=1)).replace(microsecond=0, tzinfo=None).isoformat()
    body = {"query": QUERY, "user_id": "user", "since": since, "focus_level": 3}
    answer = ana.post("reconstruct_context", body).json()
    assert answer["since"] == f"{since}Z"
    first, linked = answer["memories_retrieved"]
    assert (first["id"], linked["id"]) == remembered
    assert set(RETURNED) <= set(first) and first["_distance"] == first["distance"]
    assert (first["category"], first["emotion_type"]) == ("episodic", "curiosity")
    assert first["linked_memory_ids"] == [linked["id"]]
    assert answer["total_memories"] == 2 and answer["context_tokens"] > 0
    assert answer["synthesized_context"].startswith("## Retrieved Memories\n\n1. [")


def test_the_category_of_episodes_is_episodic(ana: Agent, remembered: tuple[str, str]) -> None:
    for call in ("search", "reconstruct_context"):
        answer = ana.post(call, {"query": QUERY, "category": "episodic"}).json()
        items = answer.get("items") or answer["memories_retrieved"]
        found = {item.get("source_type") or item["kind"] for item in items if not item.get("depth")}
        assert found in ({"episode", "reference"}, {"episode", "note"}, {"episode", "free"}), call
        assert "fact" not in found
    items = ana.post("search", {"query": QUERY, "category": "identity"}).json()["items"]
    assert "episode" not in {item["source_type"] for item in items}


@pytest.mark.parametrize("name", ["since", "until"])
@pytest.mark.parametrize("written", ["2025-09-30T20:27:00", "2025-09-30 20:27", 1759264020000])
def test_times_to_ask_by_are_utc_without_an_offset(ana: Agent, name: str, written: object) -> None:
    for call in ("search", "reconstruct_context"):
        answer = ana.post(call, {"query": QUERY, name: written})
        assert answer.status_code == 200, answer.content
    applied = ana.post("search", {"query": QUERY, name: written}).json()["query"][name]
    assert applied == "2025-09-30T20:27:00Z"


def test_a_time_to_ask_by_may_lie_ahead(ana: Agent, remembered: tuple[str, str]) -> None:
    ahead = (timezone.now() + timedelta(days=40)).isoformat()
    for call in ("search", "reconstruct_context"):
        found = ana.post(call, {"query": QUERY, "until": ahead}).json()
        assert remembered[0] in str(found), call
    talk = ana.get("conversations").json()["items"][0]["id"]
    body = {"query": QUERY, "conversation_id": talk, "as_of": ahead, "max_tokens": 200}
    assert "harbour" in ana.post("retrieve_memory", body).content.decode()
    late = ana.post("search", {"query": QUERY, "until": "2999-01-01T00:00:00"})
    assert late.status_code == 400 and list(late.json()["fields"]) == ["until"]


def test_a_time_to_store_needs_its_offset(ana: Agent, conversation: uuid.UUID) -> None:
    message = {"role": "user", "content": "Hello.", "timestamp": "2025-09-30T20:27:00"}
    body = {"conversation_id": str(conversation), "message": message}
    answer = ana.post("add_message", body)
    assert answer.status_code == 400 and list(answer.json()["fields"]) == ["message.timestamp"]
