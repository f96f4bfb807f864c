"""An answer can say how it came about, and what was true at another time."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from memoryproject.text.tokens import count_tokens
from semantic.models import Fact
from tests.conftest import Agent
from tests.talk import EVENING

pytestmark = pytest.mark.django_db


def test_each_hit_says_its_ranks_scores_and_terms(ana: Agent, told: uuid.UUID) -> None:
    body = {"conversation_id": str(told), "query": "moving to Rotterdam", "explain": True}
    answer = ana.post("retrieve_memory/raw", body).json()
    for hit in answer["semantic"] + answer["episodic"]:
        how = answer["explain"]["hits"][hit["id"]]
        assert how["score"] == pytest.approx(how["rrf"] * how["retrievability"])
        assert hit["score"] == how["score"]
        ranks = [rank for rank in (how["lexical_rank"], how["vector_rank"]) if rank]
        assert how["rrf"] == pytest.approx(sum(1 / (60 + rank) for rank in ranks))
        assert bool(how["lexical_rank"]) == bool(how["terms"])
    first = answer["explain"]["hits"][answer["episodic"][0]["id"]]
    assert {"move", "rotterdam"} <= set(first["terms"])
    assert answer["explain"]["legs"]["fact"]["lexical"] > 0
    assert answer["explain"]["legs"]["episode"]["vector"] == len(answer["episodic"])


def test_markdown_says_ids_and_days_when_asked(ana: Agent, told: uuid.UUID) -> None:
    body = {"conversation_id": str(told), "query": "moving to Rotterdam", "detail": "high"}
    plain = ana.post("retrieve_memory", body).content.decode()
    explained = ana.post("retrieve_memory", {**body, "explain": True}).content.decode()
    for fact in Fact.objects.of(ana.tenant):
        assert f"id: {fact.id}" in explained and str(fact.id) not in plain
    assert '- 2026-03-02 Mira: "' in explained and '- Mira: "' in plain


@pytest.mark.parametrize("budget", [10, 60, 200, 1000])
def test_ids_count_within_the_budget(ana: Agent, told: uuid.UUID, budget: int) -> None:
    body = {
        "conversation_id": str(told),
        "query": "Rotterdam",
        "explain": True,
        "max_tokens": budget,
    }
    text = ana.post("retrieve_memory", body).content.decode()
    assert count_tokens(text) <= budget
    assert budget < 60 or "[id: " in text


@pytest.mark.parametrize("flag", [1, "true", "yes", [], {}])
def test_only_true_and_false_are_flags(ana: Agent, told: uuid.UUID, flag: object) -> None:
    body = {"conversation_id": str(told), "query": "Rotterdam", "explain": flag}
    answer = ana.post("retrieve_memory/raw", body)
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["explain"])


def test_what_happened_later_was_not_so_then(ana: Agent, told: uuid.UUID) -> None:
    before = (EVENING - timedelta(hours=1)).isoformat()
    body = {"conversation_id": str(told), "query": "marathon training", "as_of": before}
    answer = ana.post("retrieve_memory/raw", body).json()
    assert answer["episodic"] and answer["semantic"]
    moments = [hit["start_at"] for hit in answer["episodic"]]
    moments += [hit["valid_at"] for hit in answer["semantic"]]
    assert max(moments) < before
    assert not any("marathon" in hit["fact"] for hit in answer["semantic"])


def test_a_fact_that_was_replaced_answers_for_the_time_when_it_held(
    ana: Agent, conversation: uuid.UUID
) -> None:
    old, new = "My phone number is 555 1234.", "My new phone number is 555 9876."
    for year, words in ((2024, old), (2025, new)):
        moment = datetime(year, 5, 1, tzinfo=UTC).isoformat()
        ana.say(conversation, words, name="Ana", timestamp=moment)
        ana.flush(conversation)
    (row,) = ana.get("suggestions").json()["items"]
    assert ana.post(f"suggestions/{row['id']}/accept").status_code == 200
    body = {"conversation_id": str(conversation), "query": "What is Ana's phone number?"}

    def facts(**extra: str) -> str:
        answer = ana.post("retrieve_memory/raw", {**body, **extra}).json()
        return " ".join(hit["fact"] for hit in answer["semantic"])

    assert "9876" in facts() and "1234" not in facts()
    then = facts(as_of="2024-08-01T00:00:00Z")
    assert "1234" in then and "9876" not in then
    assert facts(as_of="2023-01-01T00:00:00Z") == ""
    assert "9876" in facts(as_of="2025-08-01T00:00:00Z")
