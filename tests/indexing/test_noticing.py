"""A changed embedding model is noticed in answers and by a chore, which has vectors made."""

from __future__ import annotations

import uuid

import pytest
from pytest_django import Settings

from indexing import model_change
from jobs.draining import drain_jobs
from memoryproject.ai import embeddings
from memoryproject.tenancy.models import Tenant
from tests.conftest import Agent
from tests.llm.conftest import post
from tests.talk import MORNING, MOVING, messages

pytestmark = pytest.mark.django_db


class Another(embeddings.LocalEmbedder):
    """The same model by another name: its vectors are not compared with those of before."""

    name = "another"


def notice() -> None:
    model_change.notice_changes(at_most=100)


@pytest.fixture
def changed(
    ana: Agent, conversation: uuid.UUID, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> tuple[Agent, uuid.UUID]:
    """A tenant with vectors of one model, on a server that has another by now."""
    settings.KEY_REMEMBERED_S = -1.0  # a key is kept with its tenant's settings
    post(ana, conversation, messages(MOVING, MORNING))
    ana.flush(conversation)
    notice()
    another = Another()
    monkeypatch.setattr(embeddings, "get_embedders", lambda: (another,))
    return ana, conversation


def ask(agent: Agent, conversation: uuid.UUID) -> str:
    body = {"conversation_id": str(conversation), "query": "Where does Mira move?"}
    return str(agent.post("retrieve_memory", body).headers.get("Memory-Degraded"))


def test_answers_say_so_until_a_chore_has_had_all_vectors_made(
    changed: tuple[Agent, uuid.UUID],
) -> None:
    agent, conversation = changed
    assert ask(agent, conversation) == "old_vectors"
    assert "found by keyword" in model_change.explain_changes()
    notice()
    tenant = Tenant.objects.get(id=agent.tenant.id)
    assert model_change.find_move(tenant).exists(), "the model is local: it begins by itself"
    drain_jobs()
    notice()
    assert ask(agent, conversation) == "None"
    assert model_change.explain_changes() == ""


def test_a_providers_model_is_not_set_to_work_unasked(
    changed: tuple[Agent, uuid.UUID], settings: Settings
) -> None:
    settings.EMBEDDINGS, settings.EMBEDDING_BASE_URL = "openai", "https://api.example.com/v1"
    notice()
    assert not model_change.find_move(changed[0].tenant).exists()


def test_what_somebody_paused_is_not_begun_again(changed: tuple[Agent, uuid.UUID]) -> None:
    tenant = Tenant.objects.get(id=changed[0].tenant.id)
    model_change.pause_move(tenant)
    notice()
    assert not model_change.find_move(tenant).exists()
