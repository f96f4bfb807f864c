"""The cast for a file with tests that commit: it imports these in place of conftest's."""

from __future__ import annotations

import uuid

import pytest

from tests.conftest import Agent, make_agent, tell


@pytest.fixture
def ana(db: None) -> Agent:
    return make_agent("ana's", "ana")


@pytest.fixture
def bo(db: None) -> Agent:
    return make_agent("ana's", "bo")


@pytest.fixture
def cleo(db: None) -> Agent:
    return make_agent("cleo's", "cleo")


@pytest.fixture
def conversation() -> uuid.UUID:
    return uuid.uuid4()


@pytest.fixture
def told(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    """A conversation on two topics, segmented and consolidated."""
    return tell(ana, conversation)
