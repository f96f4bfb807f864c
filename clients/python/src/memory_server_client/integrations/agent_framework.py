"""A context provider of Microsoft's Agent Framework, over what a user said and noted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from agent_framework import AgentSession, ContextProvider, Message, SessionContext

from memory_server_client import Client, NewMessage
from memory_server_client.integrations.keeping import ROLES, conversation_of, store


class MemoryServerProvider(ContextProvider):
    """Brings back what bears on the question before each run, and stores what was said after it.

    A session is a conversation of the user. What other sessions of his hold, and his notes, come
    before the question, between marks which say that they are data. Messages without text are
    not stored.
    """

    def __init__(
        self,
        client: Client,
        *,
        user_id: str,
        max_tokens: int = 1000,
        profile_tokens: int = 0,
        source_id: str = "memory_server",
    ) -> None:
        """Remember one user: whoever shares an agent shares its memory.

        Args:
            user_id: whose memory, by your own id.
            max_tokens: that what is recalled for a run may have.
            profile_tokens: of the user's profile, which comes before what is recalled; 0: none.
            source_id: the framework's name of this provider.
        """
        super().__init__(source_id)
        self.client = client
        self.user_id = user_id
        self.max_tokens = max_tokens
        self.profile_tokens = profile_tokens

    async def before_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Add the profile, and what is known on the last question of the user."""
        asked = [message.text for message in context.input_messages if message.role == "user"]
        query = asked[-1].strip() if asked else ""
        texts = await asyncio.to_thread(lambda: [*self._find(session, query)])
        context.extend_messages(self, [Message("user", [text]) for text in texts if text])

    def _find(self, session: AgentSession, query: str) -> Iterable[str]:
        if self.profile_tokens:
            size = self.profile_tokens
            yield self.client.get_user_profile(self.user_id, max_tokens=size, fence=True)["text"]
        if query:
            yield self.client.recall(
                query,
                user_id=self.user_id,
                conversation_id=conversation_of(session.session_id),
                max_tokens=self.max_tokens,
            )

    async def after_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Store the question and the answer."""
        talk = conversation_of(session.session_id)
        answer = context.response.messages if context.response else []
        said: list[NewMessage] = [
            {
                "role": ROLES.get(message.role, "user"),
                "content": message.text,
                "name": message.author_name,
            }
            for message in [*context.input_messages, *answer]
            if message.text.strip()
        ]
        await asyncio.to_thread(store, self.client, talk, said, user_id=self.user_id)

    async def close(self, session: AgentSession) -> None:
        """End a session: what was said in it is made episodes and facts of now."""
        talk = conversation_of(session.session_id)
        await asyncio.to_thread(self.client.close_conversation, talk)
