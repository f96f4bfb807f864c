"""A session of the OpenAI Agents SDK that is a conversation of the memory server."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, cast

from agents import SessionSettings, TResponseInputItem

from memory_server_client import Client, NewMessage
from memory_server_client.integrations.keeping import ROLES, conversation_of, fold, store, unfold

PAGE = 200
KEPT = "openai_agents"
KEEPS_ALL = (
    "The memory server takes nothing back. Start another session, by another id; or erase with "
    "all that is known from it: client.erase('conversation', session.conversation_id, reason=…)."
)


class MemoryServerSession:
    """Keeps the items of a session as messages, which the server makes episodes and facts of.

    Calls of tools and their results are messages of the role `tool`. What an item has besides
    its text is kept in the metadata, and may have 16 KiB; its text 64 KiB.
    """

    session_settings: SessionSettings | None = None

    def __init__(self, session_id: str, client: Client, *, user_id: str | None = None) -> None:
        """Read from and write to a conversation.

        Args:
            session_id: the conversation's UUID, or any other text: then its UUID follows from it.
            user_id: whose it is, by your own id: `recall` then knows all of his sessions.
        """
        self.user_id = user_id
        self.session_id = session_id
        self.client = client
        self.conversation_id = conversation_of(session_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the latest items, oldest first; all where no limit is given."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit

        def read() -> list[TResponseInputItem]:
            messages = self.client.list_messages(self.conversation_id, page_size=PAGE)
            return [read_item(message) for message in deque(messages, maxlen=limit)]

        return await asyncio.to_thread(read)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items, 500 at a time, each batch all or nothing."""
        messages = [write_item(cast("dict[str, Any]", item)) for item in items]
        await asyncio.to_thread(
            store, self.client, self.conversation_id, messages, user_id=self.user_id
        )

    async def recall(self, query: str, *, max_tokens: int = 1000) -> str:
        """Return what is known on a query, for the instructions of an agent; empty: nothing.

        From all sessions of the user but what waits in this one, or from this session alone where
        no user is named.
        """
        return await asyncio.to_thread(
            self.client.retrieve_memory,
            self.conversation_id,
            query,
            scope="user" if self.user_id else None,
            user_id=self.user_id,
            max_tokens=max_tokens,
            fence=True,
        )

    async def profile(self, *, max_tokens: int = 400) -> str:
        """Return what to know of the user, for the instructions of an agent; empty: nothing."""
        if self.user_id is None:
            return ""
        known = await asyncio.to_thread(
            self.client.get_user_profile, self.user_id, max_tokens=max_tokens, fence=True
        )
        return known["text"]

    async def close(self) -> None:
        """End the session: what was said in it is made episodes and facts of now."""
        await asyncio.to_thread(self.client.close_conversation, self.conversation_id)

    async def pop_item(self) -> TResponseInputItem | None:
        """Refuse: what was said stays said.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(KEEPS_ALL)

    async def clear_session(self) -> None:
        """Refuse.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(KEEPS_ALL)


def write_item(item: dict[str, Any]) -> NewMessage:
    """Return an item as the server takes it."""
    text = "\n".join(read_texts(item))
    content = text if text.strip() else f"({item.get('type', 'no text')})"
    role = ROLES.get(item.get("role"), "tool")
    return {"role": role, "content": content, "metadata": {KEPT: fold(item, content)}}


def read_texts(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an item says: its text, the call of a tool, or the tool's answer."""
    for said in (item.get("content"), item.get("output")):
        if isinstance(said, str):
            yield said
        elif isinstance(said, list):
            yield from (part["text"] for part in said if isinstance(part.get("text"), str))
    if "arguments" in item:
        yield f"{item.get('name')}({item['arguments']})"


def read_item(message: Mapping[str, Any]) -> TResponseInputItem:
    """Return an item as it was added; what others posted is a message of its role."""
    text, kept = message["content"], message["metadata"].get(KEPT)
    role = "assistant" if message["role"] == "tool" else message["role"]
    item = unfold(kept, text) if kept else {"role": role, "content": text}
    return cast("TResponseInputItem", item)
