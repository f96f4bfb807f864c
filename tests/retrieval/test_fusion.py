"""The numbers of the formula can be set, by call and by tenant."""

from __future__ import annotations

import time
import uuid
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from episodic.models import Episode
from retrieval.models import Retrieval
from tests.conftest import Agent, make_agent, tell

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def told(shared: None) -> uuid.UUID:
    """Ana's conversation, once for all tests of this file."""
    return tell(make_agent("ana's", "ana"), uuid.uuid4())


def ask(agent: Agent, conversation: uuid.UUID, **fusion: float) -> dict[str, Any]:
    body = {"conversation_id": str(conversation), "query": "moving to Rotterdam", "explain": True}
    answer = agent.post("retrieve_memory/raw", {**body, **({"fusion": fusion} if fusion else {})})
    assert answer.status_code == 200, answer.content
    return answer.json()


def check_scores(answer: dict[str, Any], *, k: int, words: float, meaning: float) -> None:
    assert answer["explain"]["hits"]
    for how in answer["explain"]["hits"].values():
        legs = [(words, how["lexical_rank"]), (meaning, how["vector_rank"])]
        rrf = sum(weight / (k + rank) for weight, rank in legs if rank)
        assert how["rrf"] == pytest.approx(rrf)
        assert how["score"] == pytest.approx(rrf * how["retrievability"])


def test_a_call_brings_its_own(ana: Agent, told: uuid.UUID) -> None:
    check_scores(ask(ana, told), k=60, words=1, meaning=1)
    check_scores(ask(ana, told, k=10, vector_weight=0.5), k=10, words=1, meaning=0.5)
    receipt = Retrieval.objects.of(ana.tenant).order_by("-created_at")[0]
    assert receipt.parameters["fusion"] == {
        "k": 10, "depth": 100, "lexical_weight": 1.0, "vector_weight": 0.5, "floor": 0.0,
    }  # fmt: skip


def test_depth_bounds_each_leg(ana: Agent, told: uuid.UUID) -> None:
    for legs in ask(ana, told, depth=2)["explain"]["legs"].values():
        assert max(legs.values()) <= 2


@pytest.mark.parametrize("weight", [5e-324, 1e-308, 1e-300, 1e-10])
def test_a_weight_next_to_nothing_is_nothing(ana: Agent, told: uuid.UUID, weight: float) -> None:
    answer = ask(ana, told, k=723, vector_weight=weight, lexical_weight=weight)
    assert {how["rrf"] for how in answer["explain"]["hits"].values()} == {0.0}


def test_old_episodes_sink_unless_there_is_a_floor(ana: Agent, told: uuid.UUID) -> None:
    long_ago = timezone.now() - timedelta(days=3650)
    Episode.objects.of(ana.tenant).update(last_reviewed_at=long_ago)
    for floor, least in ((0.0, 0.0), (0.8, 0.8)):
        hits = ask(ana, told, floor=floor)["episodic"]
        how = ask(ana, told, floor=floor)["explain"]["hits"]
        recalled = [how[hit["id"]]["retrievability"] for hit in hits]
        assert recalled and (min(recalled) == least if floor else max(recalled) < 0.8)


def test_a_tenant_has_numbers_of_its_own(ana: Agent, told: uuid.UUID) -> None:
    said = StringIO()
    call_command("set_fusion", ana.tenant.name, "k=5", "lexical_weight=2", stdout=said)
    time.sleep(settings.KEY_REMEMBERED_S)
    assert "k=5\n" in said.getvalue() and "depth=100\n" in said.getvalue()
    check_scores(ask(ana, told), k=5, words=2, meaning=1)
    check_scores(ask(ana, told, k=7), k=7, words=2, meaning=1)
    call_command("set_fusion", ana.tenant.name, reset=True, stdout=said)
    time.sleep(settings.KEY_REMEMBERED_S)
    check_scores(ask(ana, told), k=60, words=1, meaning=1)


@pytest.mark.parametrize("numbers", ["k=-1", "k=1.5", "depth=0", "floor=2", "k", "speed=3", "k=x"])
def test_the_command_refuses_what_a_call_would_be_refused_for(ana: Agent, numbers: str) -> None:
    with pytest.raises(CommandError):
        call_command("set_fusion", ana.tenant.name, numbers)


@pytest.mark.parametrize(
    "fusion",
    [
        {"k": -1}, {"k": 1001}, {"k": 1.5}, {"k": "10"}, {"k": True}, {"depth": 0},
        {"depth": 501}, {"floor": 1.01}, {"floor": "0.5"}, {"lexical_weight": -0.1},
        {"vector_weight": 1e300}, {"vector_weight": 10**400}, {"other": 1}, [], 5, "k",
    ],
)  # fmt: skip
def test_numbers_out_of_range_are_refused(ana: Agent, told: uuid.UUID, fusion: Any) -> None:
    body = {"conversation_id": str(told), "query": "Rotterdam", "fusion": fusion}
    answer = ana.post("retrieve_memory/raw", body)
    assert answer.status_code == 400, answer.content
    assert all(name.startswith("fusion") for name in answer.json()["fields"])
