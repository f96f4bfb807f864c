"""What adapters share: sessions kept as conversations, and a model's three tools.

A framework's form of a message is kept beside the text, which may be longer than metadata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from memory_server_client import Client, Id, NewMessage
from memory_server_client.types import RetrievalScopeEnum, RoleEnum

BATCH = 500
NOTHING = "Memory holds nothing on this."
TEXT = "memory-server:text"
ROLES: Mapping[Any, RoleEnum] = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "chatbot"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
"""Roles by the frameworks' words for them."""


def store(client: Client, talk: Id, said: Sequence[NewMessage], **options: Any) -> None:
    """Store messages, 500 at a time, each batch all or nothing."""
    for start in range(0, len(said), BATCH):
        client.add_messages(talk, said[start : start + BATCH], **options)


class Tools:
    """The tools `recall`, `remember` and `forget`; a docstring is what the model reads."""

    def __init__(self, client: Client, user_id: str | None, max_tokens: int) -> None:
        self.client, self.user_id, self.max_tokens = client, user_id, max_tokens

    def recall(self, query: str) -> str:
        """Recall what is known. Ask before you answer about the past or the user.

        Args:
            query: What to recall, in words.
        """
        text = self.client.recall(query, user_id=self.user_id, max_tokens=self.max_tokens)
        return str(text) or NOTHING

    def remember(self, text: str, tags: list[str] | None = None) -> str:
        """Remember one thing: what the user asks to keep, a decision, a lesson. No secrets.

        Args:
            text: One thing, in words that stand alone.
            tags: Words to list it by.
        """
        note = self.client.add_note(text, tags=tags, user_id=self.user_id)
        return f"Stored as note {note['id']}."

    def forget(self, text: str) -> str:
        """Forget what the user asks to forget. Only when the user says so.

        Args:
            text: What to forget, in the user's words.
        """
        scope: RetrievalScopeEnum = "user" if self.user_id else "tenant"
        done = self.client.forget(text, scope=scope, user_id=self.user_id)
        count = len(done["forgotten"]) + len(done["note_ids"])
        return f"{count} memories are forgotten; a person confirms it."


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
