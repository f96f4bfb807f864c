"""A live server, named by the environment: see clients/live.py."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from memory_server_client import Client


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    with Client() as client:
        yield client


@pytest.fixture
def talk() -> uuid.UUID:
    return uuid.uuid4()


@pytest.fixture(scope="session")
def told(client: Client) -> uuid.UUID:
    """A conversation that is processed."""
    talk = uuid.uuid4()
    said = [
        "I moved from Lisbon to Porto last week.",
        "I work as a nurse at the hospital now.",
        "I am allergic to peanuts.",
        "My sister Rita lives in Braga.",
    ]
    client.add_messages(talk, [{"role": "user", "content": text} for text in said])
    client.wait_for(client.flush(talk))
    return talk
