"""The context provider, under agents of the Agent Framework with a model of ours."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
)

from memory_server_client import Client
from memory_server_client.integrations.agent_framework import MemoryServerProvider
from memory_server_client.integrations.keeping import conversation_of


class Echo(FunctionInvocationLayer, BaseChatClient):
    """A model that calls a tool if it has one, and then says all that it was given."""

    async def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **kwargs: Any,
    ) -> ChatResponse:
        text = "I was given: " + " | ".join(message.text for message in messages)
        contents: list[Any] = [text]
        if options.get("tools") and messages[-1].role != "tool":
            contents = [Content.from_function_call("c1", "tide", arguments={"port": "Faro"})]
        return ChatResponse(messages=[Message("assistant", contents)])


def tide(port: str) -> str:
    """Return the tide of a port."""
    return f"High in {port}."


async def test_a_user_is_known_in_the_next_session_and_to_nobody_else(client: Client) -> None:
    user = f"u-{uuid.uuid4()}"
    provider = MemoryServerProvider(client, user_id=user)
    agent = Agent(Echo(), name="Pilot", context_providers=[provider], tools=[tide])
    monday = AgentSession(session_id=f"monday-{user}")
    await agent.run("My boat is called Nautilus.", session=monday)
    client.add_note("The boat's berth is 17.", user_id=user)
    friday = await agent.run("What is my boat called, and its berth?", session=AgentSession())
    assert "Nautilus" in friday.text and "berth is 17" in friday.text
    assert "untrusted data" in friday.text
    other = MemoryServerProvider(client, user_id=f"{user}-other")
    stranger = Agent(Echo(), context_providers=[other])
    assert "Nautilus" not in (await stranger.run("What is my boat called?")).text

    stored = [
        (one["role"], one["name"], one["content"][:14])
        for one in client.list_messages(conversation_of(monday.session_id))
    ]
    assert stored == [
        ("user", None, "My boat is cal"),
        ("assistant", "Pilot", "I was given: M"),
    ]
    await provider.close(monday)
    client.wait_for(client.flush(conversation_of(monday.session_id)))
    provider.profile_tokens = 200
    assert "Nautilus" in (await agent.run("Hello!", session=AgentSession())).text


async def test_what_is_in_the_session_is_not_recalled_again(client: Client) -> None:
    provider = MemoryServerProvider(client, user_id=f"u-{uuid.uuid4()}")
    agent = Agent(Echo(), context_providers=[provider])
    session = agent.create_session()
    await agent.run("My boat is called Nautilus.", session=session)
    answer = await agent.run("What is my boat called?", session=session)
    assert "untrusted data" not in answer.text
