"""Fixtures for tests that enter by HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from episodic.models import Conversation, Message
from retrieval.models import Retrieval


@pytest.fixture
def nothing_is_stored(db: None) -> Iterator[None]:
    """Check at the end that the test has left no conversation, message or receipt."""
    yield
    assert not Conversation.across_tenants.exists()
    assert not Message.across_tenants.exists()
    assert not Retrieval.across_tenants.exists()
