"""Ana and her conversation, made once for a file: it imports these in place of conftest's.

Each test sees them as they were made, whatever the others do: see `shared` in tests.conftest.
"""

from __future__ import annotations

import uuid

import pytest

from tests.conftest import Agent, make_agent, tell


@pytest.fixture(scope="module")
def ana(shared: None) -> Agent:
    return make_agent("ana's", "ana")


@pytest.fixture(scope="module")
def told(ana: Agent) -> uuid.UUID:
    """A conversation on two topics, segmented and consolidated."""
    return tell(ana, uuid.uuid4())
