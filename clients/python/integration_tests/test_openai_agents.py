"""A session keeps every item, with agents that call tools too."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from agents import Agent, Runner, Session, SessionSettings, function_tool
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from memory_server_client import Client
from memory_server_client.integrations.openai_agents import MemoryServerSession

ITEMS: list[Any] = [
    {"role": "user", "content": "What is the tide?"},
    {"role": "developer", "content": "Be kind."},
    {"type": "function_call", "call_id": "c1", "name": "tide", "arguments": "{}", "id": "f1"},
    {"type": "function_call_output", "call_id": "c1", "output": "x" * 20_000},
    {
        "type": "message",
        "role": "assistant",
        "id": "m1",
        "status": "completed",
        "content": [{"type": "output_text", "text": "y" * 20_000, "annotations": []}],
    },
    {"role": "user", "content": [{"type": "input_image", "image_url": "https://example.com/a"}]},
    {"type": "reasoning", "id": "r1", "summary": []},
]


@pytest.fixture
def session(client: Client, talk: uuid.UUID) -> MemoryServerSession:
    return MemoryServerSession(str(talk), client)


async def test_items_come_back_as_they_were(client: Client, session: MemoryServerSession) -> None:
    assert isinstance(session, Session) and await session.get_items() == []
    await session.add_items([])
    await session.add_items(ITEMS)
    assert await session.get_items() == ITEMS
    assert await session.get_items(limit=2) == ITEMS[-2:] and await session.get_items(0) == []
    session.session_settings = SessionSettings(limit=3)
    assert await session.get_items() == ITEMS[-3:]
    stored = [
        (one["role"], one["content"][:20]) for one in client.list_messages(session.conversation_id)
    ]
    assert stored == [
        ("user", "What is the tide?"),
        ("system", "Be kind."),
        ("tool", "tide({})"),
        ("tool", "x" * 20),
        ("assistant", "y" * 20),
        ("user", "(no text)"),
        ("tool", "(reasoning)"),
    ]


async def test_an_agent_with_a_tool_goes_on_where_it_was(session: MemoryServerSession) -> None:
    @function_tool
    def tide(port: str) -> str:
        return f"High in {port}."

    given: list[Any] = []

    def answer(call: Any) -> list[Any]:
        given.extend(call.input)
        return [assistant_message("As you said, Faro.")]

    steps: list[Any] = [
        [function_call("tide", json.dumps({"port": "Faro"}), call_id="c1")],
        [assistant_message("The tide is high.")],
        ModelStep.respond(answer),
    ]
    agent = Agent(name="Pilot", model=ScriptedModel(steps), tools=[tide])
    await Runner.run(agent, "Is the tide high in Faro?", session=session)
    await Runner.run(agent, "Which port was it?", session=session)
    texts = json.dumps(given)
    assert len(given) == 5 and "High in Faro." in texts and "Which port was it?" in texts


async def test_messages_of_others_are_read_too(
    client: Client, session: MemoryServerSession
) -> None:
    client.add_message(session.conversation_id, {"role": "user", "content": "Hello."})
    client.add_message(session.conversation_id, {"role": "tool", "content": "7"})
    assert await session.get_items() == [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "7"},
    ]


async def test_nothing_is_taken_back(client: Client, session: MemoryServerSession) -> None:
    await session.add_items(ITEMS[:1])
    with pytest.raises(NotImplementedError, match="erase"):
        await session.pop_item()
    with pytest.raises(NotImplementedError, match="erase"):
        await session.clear_session()
    assert await session.get_items() == ITEMS[:1]


def test_a_name_is_always_the_same_conversation(client: Client) -> None:
    ana, again, bo = (MemoryServerSession(name, client) for name in ("ana", "ana", "bo"))
    assert ana.conversation_id == again.conversation_id != bo.conversation_id


async def test_a_session_recalls_what_its_user_said_in_others(client: Client) -> None:
    user = f"u-{uuid.uuid4()}"
    said: list[Any] = [{"role": "user", "content": "My boat is called Nautilus."}]
    monday = MemoryServerSession(str(uuid.uuid4()), client, user_id=user)
    await monday.add_items(said)
    friday = MemoryServerSession(str(uuid.uuid4()), client, user_id=user)
    assert "Nautilus" in await friday.recall("What is my boat called?")
    await monday.close()
    client.wait_for(client.flush(monday.conversation_id))
    assert "Nautilus" in await friday.profile()
    stranger = MemoryServerSession(str(uuid.uuid4()), client, user_id=f"{user}-other")
    assert await stranger.recall("What is my boat called?") == ""
