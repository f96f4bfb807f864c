"""A pydantic-ai toolset with which a model recalls and remembers."""

from __future__ import annotations

from typing import Any

from pydantic_ai.toolsets import FunctionToolset

from memory_server_client import Client
from memory_server_client.types import RetrievalScopeEnum

NOTHING = "Memory holds nothing on this."


class MemoryServerToolset(FunctionToolset[Any]):
    """The tools `recall`, `remember` and `forget`, over all that a user has said and noted."""

    def __init__(
        self, client: Client, *, user_id: str | None = None, max_tokens: int = 1000
    ) -> None:
        """Offer the tools.

        Args:
            user_id: whose memory, by your own id; default: all that the client's key may see.
            max_tokens: that what is recalled may have.
        """
        super().__init__([self.recall, self.remember, self.forget], id="memory-server")
        self.client = client
        self.user_id = user_id
        self.max_tokens = max_tokens

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
