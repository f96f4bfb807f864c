"""A LlamaIndex memory block that is a conversation of the memory server."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock

from memory_server_client import Client, Id, NewMessage
from memory_server_client.integrations.keeping import ROLES, store


class MemoryServerBlock(BaseMemoryBlock[str]):
    """Stores what leaves the short-term memory, and brings back what bears on the last question.

    Sessions of one `user_id` share what is known, each in a conversation of its own; without
    one, those that share a conversation do. A message without text is left out.
    """

    name: str = "long_term_memory"
    client: Client
    conversation_id: Id
    user_id: str | None = None
    max_tokens: int = 500
    profile_tokens: int = 0
    """Of the user's profile, which comes before what bears on the question; 0: none."""

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        known = ""
        if self.user_id and self.profile_tokens:
            profile = await asyncio.to_thread(
                self.client.get_user_profile,
                self.user_id,
                max_tokens=self.profile_tokens,
                fence=True,
            )
            known = profile["text"]
        asked = [message.content for message in messages or [] if message.role == "user"]
        if not asked or not (asked[-1] or "").strip():
            return known
        return known + await asyncio.to_thread(
            self.client.retrieve_memory,
            self.conversation_id,
            str(asked[-1]),
            scope="user" if self.user_id else None,
            user_id=self.user_id,
            max_tokens=self.max_tokens,
            fence=True,
        )

    async def _aput(self, messages: list[ChatMessage]) -> None:
        said: list[NewMessage] = [
            {"role": ROLES[message.role.value], "content": message.content}
            for message in messages
            if message.content and message.content.strip()
        ]
        await asyncio.to_thread(
            store, self.client, self.conversation_id, said, user_id=self.user_id
        )

    async def aclose(self) -> None:
        """End the session: what it stored is made episodes and facts of now."""
        await asyncio.to_thread(self.client.close_conversation, self.conversation_id)
