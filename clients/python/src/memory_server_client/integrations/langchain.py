"""A LangChain retriever over memories, and a chat history that is a conversation of the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    convert_to_messages,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.retrievers import BaseRetriever

from memory_server_client import Client, Id, NewMessage
from memory_server_client.integrations.keeping import ROLES, fold, store, unfold
from memory_server_client.types import RawAnswer

PAGE = 200
TOKENS_AT_MOST = 1000
"""Of the text of one memory that a search of the whole tenant finds."""
KEPT = "langchain"


class MemoryServerRetriever(BaseRetriever):
    """Returns memories as documents, best first: a user's, one conversation's, or the tenant's.

    A document's id is the memory's. Its metadata has `kind` (fact, episode, note), `score` and
    times; of a user and of one conversation also the `evidence` of a fact, as message ids, and the
    `receipt`.
    """

    client: Client
    conversation_id: Id | None = None
    user_id: str | None = None
    k: int = 10

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        limit = self.k if k is None else k
        if self.conversation_id is None and self.user_id is None:
            return list(self._search(query, limit))
        answer = self.client.retrieve_memory_raw(
            self.conversation_id,
            query,
            scope="user" if self.user_id else None,
            user_id=self.user_id,
            semantic_limit=limit,
            episodic_limit=limit,
        )
        documents = [*read_facts(answer), *read_episodes(answer)]
        documents.sort(key=lambda document: -document.metadata["score"])
        return documents[:limit]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        manager = run_manager.get_sync()
        return await asyncio.to_thread(
            self._get_relevant_documents, query, run_manager=manager, k=k
        )

    def _search(self, query: str, limit: int) -> Iterator[Document]:
        for item in self.client.search(query, max_results=limit)["items"]:
            kind = item["source_type"]
            yield Document(
                self.client.chunk_memory(item["id"], TOKENS_AT_MOST)["content"],
                id=item["id"],
                metadata={
                    "kind": kind if kind in {"fact", "episode"} else "note",
                    "score": item["relevance"],
                    "importance": item["importance"],
                    "occurred_at": item["occurred_at"],
                    "source_id": item["source_id"],
                    "label": item["label"],
                },
            )


def read_facts(answer: RawAnswer) -> Iterator[Document]:
    """Yield the facts of an answer as documents."""
    for fact in answer["semantic"]:
        yield Document(
            fact["fact"],
            id=fact["id"],
            metadata={
                "kind": "fact",
                "score": fact["score"],
                "category": fact["category"],
                "conversation_id": fact["conversation_id"],
                "valid_at": fact["valid_at"],
                "evidence": [source["message_id"] for source in answer["sources"][fact["id"]]],
                "receipt": answer["receipt"],
            },
        )


def read_episodes(answer: RawAnswer) -> Iterator[Document]:
    """Yield the episodes of an answer as documents: title, summary, and what was said."""
    for episode in answer["episodic"]:
        said = [f"{message['role']}: {message['content']}" for message in episode["messages"]]
        yield Document(
            "\n".join([episode["title"], episode["summary"], *said]),
            id=episode["id"],
            metadata={
                "kind": "episode",
                "score": episode["score"],
                "conversation_id": episode["conversation_id"],
                "start_at": episode["start_at"],
                "end_at": episode["end_at"],
                "receipt": answer["receipt"],
            },
        )


class MemoryServerChatHistory(BaseChatMessageHistory):
    """The messages of one conversation, which the server makes episodes and facts of.

    What others post to the conversation is among them. What a message has besides its text is
    kept in the metadata, and may have 16 KiB; its text 64 KiB.
    """

    def __init__(self, client: Client, conversation_id: Id, *, user_id: str | None = None) -> None:
        """Read from and write to a conversation, which starts with its first message.

        Args:
            user_id: whose it is, by your own id: a retriever of that user finds what is said in it.
        """
        super().__init__()
        self.user_id = user_id
        self.client = client
        self.conversation_id = conversation_id

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """All messages, oldest first, read from the server at each access."""
        listed = self.client.list_messages(self.conversation_id, page_size=PAGE)
        return [read_message(message) for message in listed]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store messages, 500 at a time, each batch all or nothing."""
        said = [write_message(message) for message in messages]
        store(self.client, self.conversation_id, said, user_id=self.user_id)

    def close(self) -> None:
        """End the session: what was said in it is made episodes and facts of now."""
        self.client.close_conversation(self.conversation_id)

    def clear(self) -> None:
        """Refuse: the server forgets nothing on the way.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "A conversation is not cleared. Start another one, by another id; or erase this "
            "one with all that is known from it: client.erase('conversation', id, reason=…)."
        )


def write_message(message: BaseMessage) -> NewMessage:
    """Return a message as the server takes it."""
    text = str(message.text)
    if not text.strip():
        calls = message.tool_calls if isinstance(message, AIMessage) else []
        named = [f"{call['name']}({json.dumps(call['args'])})" for call in calls]
        text = "\n".join(named) or "(no text)"
    speaker = message.role if isinstance(message, ChatMessage) else message.type
    return {
        "role": ROLES.get(speaker, "user"),
        "content": text,
        "name": message.name,
        "metadata": {KEPT: fold(message_to_dict(message), text)},
    }


def read_message(message: Mapping[str, Any]) -> BaseMessage:
    """Return a message as it was added, or as LangChain's nearest where others posted it."""
    kept = message["metadata"].get(KEPT)
    if kept:
        return messages_from_dict([unfold(kept, message["content"])])[0]
    fields = {"content": message["content"], "name": message["name"]}
    if message["role"] == "tool":
        return ChatMessage(role="tool", **fields)
    return convert_to_messages([{"role": message["role"], **fields}])[0]
