"""Counting tokens in another way for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memoryproject.ai.counting import COUNTERS
from memoryproject.text import tokens


@contextmanager
def counted_by(name: str) -> Iterator[None]:
    """Let the server count by this counter, as if it were configured."""
    before = tokens.in_use()
    tokens.use(COUNTERS[name])
    try:
        yield
    finally:
        tokens.use(before)
