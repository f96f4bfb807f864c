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
    if llm.open_channel.cache_info().currsize:
        llm.open_channel().client.close()
    llm.open_channel.cache_clear()


@pytest.fixture
def model(settings: Settings) -> Iterator[ModelServer]:
    """A language model that says what the test scripts."""
    forget_server()
    with run_model_server() as server:
        settings.LLM = "openai"
        settings.OPENAI_BASE_URL = server.url
        settings.OPENAI_API_KEY = "key-of-the-provider"
        settings.CHAT_MODEL = "scripted"
        settings.MODEL_TIMEOUT_S = 10
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
