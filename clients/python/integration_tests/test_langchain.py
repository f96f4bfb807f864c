"""The retriever passes langchain-tests as they are; the chat history keeps every message."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from memory_server_client import Client
from memory_server_client.integrations.langchain import (
    MemoryServerChatHistory,
    MemoryServerRetriever,
)


class TestConversation(RetrieversIntegrationTests):
    """Memories of one conversation."""

    @pytest.fixture(autouse=True)
    def connect(self, client: Client, told: uuid.UUID) -> None:
        self.params = {"client": client, "conversation_id": told}

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return MemoryServerRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return self.params

    @property
    def retriever_query_example(self) -> str:
        return "Where does my sister live, and where did I move?"


class TestTenant(TestConversation):
    """Memories of the whole tenant."""

    @pytest.fixture(autouse=True)
    def connect(self, client: Client, told: uuid.UUID) -> None:
        client.add_note("The key to the boat hangs behind the door.")
        self.params = {"client": client}


def test_a_document_says_where_it_is_from(client: Client, told: uuid.UUID) -> None:
    retriever = MemoryServerRetriever(client=client, conversation_id=told)
    documents = retriever.invoke("What am I allergic to?")
    scores = [document.metadata["score"] for document in documents]
    assert scores == sorted(scores, reverse=True)
    fact = next(one for one in documents if "peanuts" in one.page_content)
    assert client.get_fact(str(fact.id))["fact"] == fact.page_content
    (message,) = fact.metadata["evidence"]
    assert client.get_message(message)["content"] == "I am allergic to peanuts."
    assert client.get_retrieval(fact.metadata["receipt"])["query"] == "What am I allergic to?"
    episode = next(one for one in documents if one.metadata["kind"] == "episode")
    assert client.get_episode(str(episode.id))["title"] in episode.page_content
    everything = MemoryServerRetriever(client=client).invoke("allergic to peanuts")
    assert {document.metadata["kind"] for document in everything} >= {"fact", "episode"}
    assert MemoryServerRetriever(client=client, conversation_id=uuid.uuid4()).invoke("x") == []


async def test_fewer_documents_can_be_asked_for(client: Client, told: uuid.UUID) -> None:
    retriever = MemoryServerRetriever(client=client, conversation_id=told)
    assert len(await retriever.ainvoke("Where does my sister live?", None, k=2)) == 2


MESSAGES: list[BaseMessage] = [
    SystemMessage("Be kind."),
    HumanMessage("What is the tide?", name="Ana", id="m1"),
    AIMessage("", tool_calls=[{"name": "tide", "args": {"port": "Faro"}, "id": "c1"}]),
    ToolMessage("x" * 20_000, tool_call_id="c1", artifact={"level": 2}),
    AIMessage([{"type": "text", "text": "y" * 20_000}], response_metadata={"model": "m"}),
    HumanMessage([{"type": "image", "url": "https://example.com/a.png"}]),
    ChatMessage(content="Hello.", role="user"),
]


def test_messages_come_back_as_they_were(client: Client, talk: uuid.UUID) -> None:
    history = MemoryServerChatHistory(client, talk)
    assert history.messages == []
    history.add_messages(MESSAGES)
    assert history.messages == MESSAGES
    stored = [(one["role"], one["content"][:20]) for one in client.list_messages(talk)]
    assert stored == [
        ("system", "Be kind."),
        ("user", "What is the tide?"),
        ("assistant", 'tide({"port": "Faro"'),
        ("tool", "x" * 20),
        ("assistant", "y" * 20),
        ("user", "(no text)"),
        ("user", "Hello."),
    ]


async def test_messages_of_others_are_read_too(client: Client, talk: uuid.UUID) -> None:
    for role in ("user", "assistant", "system", "tool"):
        client.add_message(talk, {"role": role, "content": f"From {role}.", "name": "Bo"})
    history = MemoryServerChatHistory(client, talk)
    await history.aadd_messages([HumanMessage("And me.")])
    read = await history.aget_messages()
    assert [one.type for one in read] == ["human", "ai", "system", "chat", "human"]
    assert (read[0].text, read[0].name) == ("From user.", "Bo")


def test_a_history_is_not_cleared(client: Client, talk: uuid.UUID) -> None:
    history = MemoryServerChatHistory(client, talk)
    history.add_user_message("Hello.")
    with pytest.raises(NotImplementedError, match="erase"):
        history.clear()
    assert len(history.messages) == 1


def test_more_messages_than_a_call_takes_are_stored_in_order(
    client: Client, talk: uuid.UUID
) -> None:
    history = MemoryServerChatHistory(client, talk)
    history.add_messages([HumanMessage(str(number)) for number in range(501)])
    assert [message.text for message in history.messages] == [str(n) for n in range(501)]


def test_a_retriever_of_a_user_finds_what_was_said_in_any_session(client: Client) -> None:
    user = f"u-{uuid.uuid4()}"
    for text in ("I am allergic to peanuts.", "My sister Rita lives in Braga."):
        history = MemoryServerChatHistory(client, uuid.uuid4(), user_id=user)
        history.add_user_message(text)
        history.close()
        client.wait_for(client.flush(history.conversation_id))
    retriever = MemoryServerRetriever(client=client, user_id=user)
    documents = retriever.invoke("What am I allergic to, and where does my sister live?")
    said = " ".join(document.page_content for document in documents)
    assert "peanuts" in said and "Braga" in said
    assert MemoryServerRetriever(client=client, user_id=f"{user}-other").invoke("Braga") == []
