"""Memories are ordered by the specification's formula, whose numbers nobody sets."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from episodic.models import Episode
from tests.conftest import Agent

pytestmark = pytest.mark.django_db


def ask(agent: Agent, conversation: uuid.UUID, **more: Any) -> dict[str, Any]:
    body = {"conversation_id": str(conversation), "query": "moving to Rotterdam", "explain": True}
    answer = agent.post("retrieve_memory/raw", {**body, **more})
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_scores_are_reciprocal_ranks_times_retrievability(ana: Agent, told: uuid.UUID) -> None:
    hits = ask(ana, told)["explain"]["hits"]
    assert hits
    for how in hits.values():
        rrf = sum(1 / (60 + rank) for rank in (how["lexical_rank"], how["vector_rank"]) if rank)
        assert how["rrf"] == pytest.approx(rrf)
        assert how["score"] == pytest.approx(rrf * how["retrievability"])


def test_old_episodes_sink(ana: Agent, told: uuid.UUID) -> None:
    long_ago = timezone.now() - timedelta(days=3650)
    Episode.objects.of(ana.tenant).update(last_reviewed_at=long_ago)
    answer = ask(ana, told)
    how = answer["explain"]["hits"]
    recalled = [how[hit["id"]]["retrievability"] for hit in answer["episodic"]]
    assert recalled and max(recalled) < 0.8


def test_numbers_of_an_earlier_version_are_passed_over(ana: Agent, told: uuid.UUID) -> None:
    usual, given = ask(ana, told), ask(ana, told, fusion={"k": 5, "floor": 0.8})
    assert [hit["id"] for hit in given["semantic"]] == [hit["id"] for hit in usual["semantic"]]
    ranks = {key: how["rrf"] for key, how in usual["explain"]["hits"].items()}
    assert {key: how["rrf"] for key, how in given["explain"]["hits"].items()} == ranks
