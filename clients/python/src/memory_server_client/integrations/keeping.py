"""Keeps a framework's form of a message beside its text, which may be longer than metadata."""

from __future__ import annotations

from typing import Any

TEXT = "memory-server:text"


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
