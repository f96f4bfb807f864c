"""From posted messages to an answer, through HTTP, with the offline engine."""

from __future__ import annotations

import uuid

import pytest

from episodic.models import Episode, Message
from semantic.models import Evidence, Fact
from tests.conftest import Agent

pytestmark = pytest.mark.django_db


def test_every_message_ends_in_exactly_one_episode(ana: Agent, told: uuid.UUID) -> None:
    state = ana.get(f"conversations/{told}").json()
    assert (state["messages"], state["pending"], state["open_jobs"]) == (16, 0, 0)
    assert state["indexed_through_seq"] == 16
    episodes = Episode.objects.of(ana.tenant).order_by("first_seq")
    covered = [seq for e in episodes for seq in range(e.first_seq, e.last_seq + 1)]
    assert covered == list(range(1, 17))
    assert all(message.episode_id for message in Message.objects.of(ana.tenant))


def test_an_answer_holds_facts_and_episodes_of_the_topic(ana: Agent, told: uuid.UUID) -> None:
    body = {"conversation_id": str(told), "query": "Where is Mira moving?"}
    answer = ana.post("retrieve_memory/raw", body).json()
    assert "Rotterdam" in answer["semantic"][0]["fact"]
    first = answer["episodic"][0]
    assert any("moving from Ghent" in message["content"] for message in first["messages"])
    assert set(first) == {
        "id", "conversation_id", "messages", "title", "summary", "stability", "difficulty",
        "surprise", "start_at", "end_at", "created_at", "last_reviewed_at", "consolidated_at",
        "score",
    }  # fmt: skip
    assert set(answer["semantic"][0]) == {
        "id", "conversation_id", "category", "fact", "keywords", "source_episodic_ids",
        "valid_at", "invalid_at", "score",
    }  # fmt: skip
    assert all(set(message) == {"role", "content"} for message in first["messages"])


def test_each_fact_names_a_speaker_and_resolves_to_messages(ana: Agent, told: uuid.UUID) -> None:
    facts = list(Fact.objects.of(ana.tenant))
    assert facts
    for fact in facts:
        assert not fact.fact.endswith("?")
        assert "Mira" in fact.fact or "Jonas" in fact.fact
        evidence = Evidence.objects.of(ana.tenant).filter(fact=fact)
        assert all(row.message_seqs for row in evidence) and evidence.count() >= 1


def test_the_sources_of_an_answer_are_stored_messages(ana: Agent, told: uuid.UUID) -> None:
    body = {"conversation_id": str(told), "query": "marathon in Lisbon"}
    answer = ana.post("retrieve_memory/raw", body).json()
    stored = {str(message.id) for message in Message.objects.of(ana.tenant)}
    for hit in answer["semantic"] + answer["episodic"]:
        sources = answer["sources"][hit["id"]]
        assert sources and {source["message_id"] for source in sources} <= stored
    first = answer["episodic"][0]
    assert len(answer["sources"][first["id"]]) == len(first["messages"])


def test_a_colleague_with_another_key_sees_the_same(bo: Agent, ana: Agent, told: uuid.UUID) -> None:
    body = {"conversation_id": str(told), "query": "Where is Mira moving?"}
    assert bo.post("retrieve_memory", body).content == ana.post("retrieve_memory", body).content


def test_every_answer_has_a_receipt(ana: Agent, told: uuid.UUID) -> None:
    body = {"conversation_id": str(told), "query": "Where is Mira moving?"}
    answer = ana.post("retrieve_memory/raw", body)
    receipt = ana.get("retrievals").json()["items"][0]
    assert receipt["id"] == answer.json()["receipt"] == answer["Memory-Receipt"]
    served = {hit["id"] for hit in answer.json()["semantic"] + answer.json()["episodic"]}
    assert {hit["memory_id"] for hit in receipt["hits"]} == served
    assert receipt["counts"]["fact"]["vector"] > 0
