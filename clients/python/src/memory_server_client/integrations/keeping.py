"""Keeps a framework's sessions as conversations, and its form of a message beside the text.

The text may be longer than metadata.
"""

from __future__ import annotations

from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

TEXT = "memory-server:text"


def conversation_of(session_id: str) -> UUID:
    """Return the conversation that a session is: its id if that is a UUID, else made from it."""
    try:
        return UUID(session_id)
    except ValueError:
        return uuid5(NAMESPACE_URL, f"memory-server-session:{session_id}")


def fold(value: Any, text: str) -> Any:
    """Return JSON with a mark wherever it has the text itself."""
    return _replace(value, text, TEXT)


def unfold(value: Any, text: str) -> Any:
    """Return what was folded."""
    return _replace(value, TEXT, text)


def _replace(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {name: _replace(one, old, new) for name, one in value.items()}
    if isinstance(value, list):
        return [_replace(one, old, new) for one in value]
    return new if value == old else value
