"""Fixtures for tests that enter by HTTP."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from episodic.models import Conversation, Message
from retrieval.models import Retrieval
from tests.conftest import Agent
from tests.talk import whole_talk


@pytest.fixture
def nothing_is_stored(db: None) -> Iterator[None]:
    """Check at the end that the test has left no conversation, message or receipt."""
    yield
    assert not Conversation.across_tenants.exists()
    assert not Message.across_tenants.exists()
    assert not Retrieval.across_tenants.exists()


@pytest.fixture
def told(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    """A conversation on two topics, segmented and consolidated."""
    body = {"conversation_id": str(conversation), "messages": whole_talk()}
    assert ana.post("add_messages", body).status_code == 201
    drained = ana.flush(conversation)
    assert (drained.later, drained.dead) == (0, 0)
    return conversation
