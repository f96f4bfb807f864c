"""A pydantic-ai toolset with which a model recalls and remembers."""

from __future__ import annotations

from typing import Any

from pydantic_ai.toolsets import FunctionToolset

from memory_server_client import Client

NOTHING = "Memory holds nothing on this."
ALL_TIME = 0
"""In milliseconds since 1970."""


class MemoryServerToolset(FunctionToolset[Any]):
    """The tools `recall` and `remember`, over the whole tenant of the client's key."""

    def __init__(self, client: Client, *, max_tokens: int = 1000) -> None:
        """Offer both tools.

        Args:
            max_tokens: that what is recalled may have.
        """
        super().__init__([self.recall, self.remember], id="memory-server")
        self.client = client
        self.max_tokens = max_tokens

    def recall(self, query: str) -> str:
        """Recall what is known. Ask before you answer about the past or the user.

        Args:
            query: What to recall, in words.
        """
        found = self.client.reconstruct_context(
            query, since=ALL_TIME, max_tokens=self.max_tokens, fence=True
        )
        return found["synthesized_context"] if found["memories_retrieved"] else NOTHING

    def remember(self, text: str, tags: list[str] | None = None) -> str:
        """Remember one thing: what the user asks to keep, a decision, a lesson. No secrets.

        Args:
            text: One thing, in words that stand alone.
            tags: Words to list it by.
        """
        note = self.client.add_note(text, tags=tags)
        return f"Stored as note {note['id']}."
