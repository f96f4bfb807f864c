"""A memory service of Google's Agent Development Kit, over what a user said and noted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from google.adk.events import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai.types import Content, Part

from memory_server_client import Client, NewMessage, NewNote, NotFound

BATCH, PAGE = 500, 200
NOTES_AT_MOST = 5
LEAST_RELEVANCE = 0.2
"""Of a note among what a search returns."""


class MemoryServerMemoryService(BaseMemoryService):
    """Keeps each session as a conversation of its user, led by the agent that the app is.

    An app finds what its user said to it in any session, at once, and nothing said to other apps.
    Events without text are left out. An entry's `custom_metadata` has its kind (fact, episode,
    message, note) and the answer's receipt.
    """

    def __init__(self, client: Client, *, max_tokens: int = 1000) -> None:
        """Read and write as the client's key may.

        Args:
            max_tokens: that the facts, episodes and messages of one search may have.
        """
        self.client = client
        self.max_tokens = max_tokens

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the events of a session that are not stored yet."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store events that are not stored yet; the metadata goes to each."""
        talk = conversation_of(app_name, user_id, session_id)
        messages = [message for event in events for message in read_event(event, custom_metadata)]

        def store() -> None:
            listed = self.client.list_messages(talk, page_size=PAGE)
            known = {message["metadata"].get("external_id") for message in listed}
            new = [message for message in messages if message["external_id"] not in known]
            for start in range(0, len(new), BATCH):
                batch = new[start : start + BATCH]
                ids = json.dumps([message["external_id"] for message in batch])
                # The same batch, sent by two processes at once, is stored once.
                key = str(uuid5(talk, ids))
                self.client.add_messages(
                    talk, batch, user_id=user_id, agent_id=app_name, idempotency_key=key
                )

        await asyncio.to_thread(store)

    async def close_session(self, session: Session) -> None:
        """End a session: what was said in it is made episodes and facts of now."""
        talk = conversation_of(session.app_name, session.user_id, session.id)
        await asyncio.to_thread(self.client.close_conversation, talk)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store memories as notes, all or nothing."""
        notes: list[NewNote] = [
            {
                "content": text_of(memory.content),
                "user_id": user_id,
                "tags": [tag_of(app_name)],
                "occurred_at": memory.timestamp,
                "metadata": {**(custom_metadata or {}), **memory.custom_metadata},
            }
            for memory in memories
        ]
        if notes:
            await asyncio.to_thread(self.client.add_notes, notes)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return facts, episodes, messages that are no episode yet, and notes."""
        search = self._search(app_name, user_id, query)
        return SearchMemoryResponse(memories=await asyncio.to_thread(list, search))

    def _search(self, app_name: str, user_id: str, query: str) -> Iterator[MemoryEntry]:
        size, tag = self.max_tokens, tag_of(app_name)
        answer = self.client.retrieve_memory_raw(
            None, query, scope="user", user_id=user_id, agent_id=app_name, max_tokens=size
        )
        receipt = answer["receipt"]
        for fact in answer["semantic"]:
            about = {"kind": "fact", "category": fact["category"], "receipt": receipt}
            yield entry(fact["id"], fact["fact"], fact["valid_at"], about)
        about = {"kind": "episode", "receipt": receipt}
        for episode in answer["episodic"]:
            said = [f"{message['role']}: {message['content']}" for message in episode["messages"]]
            text = "\n".join([episode["title"], *(said or [episode["summary"]])])
            yield entry(episode["id"], text, episode["start_at"], about)
        about = {"kind": "message", "receipt": receipt}
        for recent in answer["recent"] or ():
            text, author = recent["content"], recent["name"] or recent["role"]
            yield entry(recent["message_id"], text, recent["timestamp"], about, author)
        notes = self.client.search(
            query, source_types=["note"], user_id=user_id, tag=tag, max_results=NOTES_AT_MOST
        )
        for note in notes["items"]:
            if note["relevance"] >= LEAST_RELEVANCE:
                text = self.client.chunk_memory(note["id"], size)["content"]
                about = {**note["metadata"], "kind": "note"}
                yield entry(note["id"], text, note["occurred_at"], about)

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Forget a fact or a note of the user's in this app; a person can restore it.

        Raises:
            NotImplementedError: it is an episode or a message, or another user's.
        """
        if memory_id:
            await asyncio.to_thread(self._delete, app_name, user_id, memory_id)

    def _delete(self, app_name: str, user_id: str, memory_id: str) -> None:
        with suppress(NotFound):
            note = self.client.get_note(memory_id)
            if note["user_id"] == user_id and tag_of(app_name) in note["tags"]:
                return self.client.delete_note(memory_id)
        with suppress(NotFound):
            talk = self.client.get_conversation(self.client.get_fact(memory_id)["conversation_id"])
            if talk["user_id"] == user_id and talk["agent_id"] == app_name:
                self.client.forget(fact_ids=[memory_id])
                return None
        raise NotImplementedError(
            "Only a user's own facts and notes are forgotten singly; else: client.erase(…)."
        )


def conversation_of(app_name: str, user_id: str, session_id: str | None) -> UUID:
    """Return the conversation that a session is; without a session, one of the app and user."""
    name = json.dumps([app_name, user_id, session_id], ensure_ascii=False)
    return uuid5(NAMESPACE_URL, f"memory-server-adk:{name}")


def tag_of(app_name: str) -> str:
    """Return the tag of an app's notes."""
    return f"adk:{app_name}"


def text_of(content: Content | None) -> str:
    """Return what was said: the texts, without a model's thoughts."""
    parts = (content.parts if content else None) or []
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def read_event(event: Event, metadata: Mapping[str, object] | None) -> Iterator[NewMessage]:
    """Yield the message that an event is, unless it has no text, or is part of a longer one."""
    text = text_of(event.content)
    if text.strip() and not event.partial:
        is_user = event.author == "user"
        yield {
            "role": "user" if is_user else "assistant",
            "name": None if is_user else event.author,
            "content": text,
            "timestamp": datetime.fromtimestamp(event.timestamp, timezone.utc),
            "metadata": metadata,
            "external_id": event.id,
        }


def entry(
    memory_id: str, text: str, when: str, about: dict[str, Any], author: str | None = None
) -> MemoryEntry:
    """Return a memory as the framework passes it to a model."""
    content = Content(role="user", parts=[Part(text=text)])
    return MemoryEntry(
        id=memory_id, content=content, author=author, timestamp=when, custom_metadata=about
    )
