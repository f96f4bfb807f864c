"""A server that runs with a scripted language model, and a conversation to work on."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from jobs.draining import Drained, drain_jobs
from jobs.models import Job, Kind
from memoryproject.ai import llm
from tests.conftest import Agent
from tests.model_server import ModelServer, run_model_server
from tests.talk import MORNING, MOVING, messages


def forget_server() -> None:
    """Close the connection, and forget what was learnt about the server behind it."""
    llm.forget()


def settings_for(server: ModelServer) -> dict[str, Any]:
    """Return the settings with which that server is the language model."""
    return {
        "LLM": "openai",
        "OPENAI_BASE_URL": server.url,
        "EMBEDDING_BASE_URL": server.url,
        "OPENAI_API_KEY": "key-of-the-provider",
        "CHAT_MODEL": "scripted",
        "MODEL_TIMEOUT_S": 10,
    }


@pytest.fixture
def model(settings: Settings) -> Iterator[ModelServer]:
    """A language model that says what the test scripts."""
    forget_server()
    with run_model_server() as server:
        for name, value in settings_for(server).items():
            setattr(settings, name, value)
        yield server
        forget_server()


@pytest.fixture
def talk(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    """A conversation of eight messages on one topic, not segmented yet."""
    post(ana, conversation, messages(MOVING, MORNING))
    return conversation


def post(agent: Agent, conversation: uuid.UUID, said: list[dict[str, Any]]) -> None:
    body = {"conversation_id": str(conversation), "messages": said}
    assert agent.post("add_messages", body).status_code == 201


def flush_job(agent: Agent) -> Job:
    """Return the newest flush job."""
    return Job.objects.of(agent.tenant).filter(kind=Kind.FLUSH).latest("created_at", "id")


def run_again(job: Job) -> Drained:
    """Let the time come that a failed job waits for, and work."""
    Job.objects.of(job.tenant).filter(id=job.id).update(run_after=Now())
    drained = drain_jobs()
    job.refresh_from_db()
    return drained
