"""How likely an answer holds what was asked for, and answers that are empty for want of it."""

from __future__ import annotations

import uuid

import pytest

from bench.quality.relevance import Asked, score
from retrieval.search.scores import estimate_relevance
from tests.conftest import Agent, tell

pytestmark = pytest.mark.django_db

ASKED = "Where is Mira moving?"
UNRELATED = "Which database migrations failed in the Kubernetes cluster?"


@pytest.fixture(scope="module")
def told(ana: Agent) -> uuid.UUID:
    conversation = tell(ana, uuid.uuid4())
    ana.flush(conversation)
    return conversation


def body(told: uuid.UUID, query: str, **options: object) -> dict[str, object]:
    return {"conversation_id": str(told), "query": query, **options}


def test_what_was_talked_of_is_more_relevant_than_what_was_not(ana: Agent, told: uuid.UUID) -> None:
    asked, unrelated = (
        ana.post("retrieve_memory/raw", body(told, query)).json()["relevance"]
        for query in (ASKED, UNRELATED)
    )
    assert 0 <= unrelated < 0.2 < asked <= 1


@pytest.mark.parametrize("options", [{}, {"max_tokens": 300}])
def test_an_answer_below_the_least_relevance_is_empty_and_says_so(
    ana: Agent, told: uuid.UUID, options: dict[str, object]
) -> None:
    ana.say(told, "Never give me peanuts, I am allergic to them.")
    ana.flush(told)
    last = ana.say(told, "The cluster is called Blue.")["seq"]
    asked = ana.post("retrieve_memory", body(told, ASKED, min_relevance=0.2, **options))
    assert asked.content and "Memory-Empty" not in asked.headers
    assert asked.content == ana.post("retrieve_memory", body(told, ASKED, **options)).content
    answer = ana.post("retrieve_memory", body(told, UNRELATED, min_relevance=0.2, **options))
    assert (answer.content, answer.headers["Memory-Empty"]) == (b"", "min_relevance")
    receipt = ana.get(f"retrievals/{answer.headers['Memory-Receipt']}").json()
    assert f"{receipt['relevance']:.2f}" == answer.headers["Memory-Relevance"]
    assert receipt["hits"] == []
    raw = ana.post("retrieve_memory/raw", body(told, UNRELATED, min_relevance=0.2, **options))
    assert (raw.json()["semantic"], raw.json()["episodic"]) == ([], [])
    assert raw.json()["blocks"] == ([] if options else None)
    fresh = body(told, "Which cluster?", min_relevance=1, min_seq=last, **options)
    assert "Blue" in ana.post("retrieve_memory", fresh).content.decode()


def test_several_conversations_have_theirs(ana: Agent, told: uuid.UUID) -> None:
    alone = ana.post("retrieve_memory/raw", body(told, ASKED)).json()["relevance"]
    shared = body(told, ASKED, scope="tenant")
    assert ana.post("retrieve_memory/raw", shared).json()["relevance"] == alone > 0
    assert ana.post("retrieve_memory", {**shared, "min_relevance": 1}).content == b""


def test_the_formula_is_the_fitted_one() -> None:
    assert estimate_relevance(0.0) == pytest.approx(0.018, abs=1e-3)
    assert estimate_relevance(1.0) == pytest.approx(0.931, abs=1e-3)


def test_the_measurement_counts_ties_half_and_adds_up_what_is_off() -> None:
    kinds = [("answerable", 0.9, True), ("answerable", 0.5, False), ("foreign", 0.5, False)]
    rows = [Asked("one", kind, relevance, held) for kind, relevance, held in kinds]
    figures = score(rows)
    assert figures["AUROC, foreign"] == 0.75
    assert figures["calibration error"] == pytest.approx((0.1 + 2 * 0.5) / 3)
