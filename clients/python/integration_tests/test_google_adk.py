"""The memory service, under a runner of the Agent Development Kit with a model of ours."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator
from datetime import datetime

import pytest
from google.adk.agents import Agent
from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.sessions import Session
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.load_memory_tool import load_memory_tool
from google.adk.tools.preload_memory_tool import preload_memory_tool
from google.genai.types import Content, FunctionCall, Part

from memory_server_client import Client
from memory_server_client.integrations.google_adk import (
    MemoryServerMemoryService,
    conversation_of,
)


class Echo(BaseLlm):
    """A model that calls `load_memory` on a question, and then says all that it was given."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for one in llm_request.contents for part in one.parts or []]
        said = " | ".join(str(part.text or part.function_response) for part in parts)
        part = Part(text=f"I was given: {said}")
        if "load_memory" in llm_request.tools_dict and not parts[-1].function_response:
            part = Part(function_call=FunctionCall(name="load_memory", args={"query": said}))
        yield LlmResponse(content=Content(role="model", parts=[part]))


def event(text: str, author: str = "user") -> Event:
    return Event(id=str(uuid.uuid4()), author=author, content=Content(parts=[Part(text=text)]))


def texts(memories: list[MemoryEntry]) -> str:
    return "\n".join(part.text or "" for one in memories for part in one.content.parts or [])


@pytest.fixture
def service(client: Client) -> MemoryServerMemoryService:
    return MemoryServerMemoryService(client)


@pytest.fixture
def user() -> str:
    return f"u-{uuid.uuid4()}"


@pytest.mark.parametrize("tool", [load_memory_tool, preload_memory_tool])
async def test_an_agent_knows_in_the_next_session_what_was_said_in_the_last(
    service: MemoryServerMemoryService, user: str, tool: BaseTool
) -> None:
    agent = Agent(name="keeper", model=Echo(model="echo"), tools=[tool])
    runner = InMemoryRunner(agent, app_name="kennel")
    runner.memory_service = service

    async def say(text: str) -> tuple[Session, str]:
        session = await runner.session_service.create_session(app_name="kennel", user_id=user)
        message = Content(role="user", parts=[Part(text=text)])
        events = runner.run_async(user_id=user, session_id=session.id, new_message=message)
        *_, last = [one async for one in events]
        kept = await runner.session_service.get_session(
            app_name="kennel", user_id=user, session_id=session.id
        )
        assert kept and last.content and last.content.parts
        return kept, str(last.content.parts[0].text)

    monday, _ = await say("My dog is called Biscuit.")
    await service.add_session_to_memory(monday)
    _, answer = await say("What is my dog called?")
    assert "called Biscuit" in answer


async def test_a_session_that_grows_is_stored_once(
    client: Client, service: MemoryServerMemoryService, user: str
) -> None:
    first, second = event("My boat is called Nautilus."), event("A fine name.", "pilot")
    empty = Event(author="pilot", content=Content(parts=[Part(text="hm", thought=True)]))
    session = Session(id="monday", app_name="harbour", user_id=user, events=[first, empty])
    for _ in range(2):
        await service.add_session_to_memory(session)
    session.events.append(second)
    await service.add_session_to_memory(session)
    await service.add_events_to_memory(
        app_name="harbour", user_id=user, events=[second], session_id="monday"
    )
    stored = list(client.list_messages(conversation_of("harbour", user, "monday")))
    assert [(one["role"], one["name"], one["content"]) for one in stored] == [
        ("user", None, "My boat is called Nautilus."),
        ("assistant", "pilot", "A fine name."),
    ]
    said_at = datetime.fromisoformat(stored[0]["timestamp"].replace("Z", "+00:00"))
    assert abs(said_at.timestamp() - first.timestamp) < 0.001


async def test_a_user_of_an_app_finds_nothing_of_others(
    service: MemoryServerMemoryService, user: str
) -> None:
    said, noted = event("My boat is called Nautilus."), "The boat's berth is 17."
    await service.add_events_to_memory(app_name="harbour", user_id=user, events=[said])
    entry = MemoryEntry(content=Content(parts=[Part(text=noted)]))
    await service.add_memory(app_name="harbour", user_id=user, memories=[entry])

    async def search(app_name: str, user_id: str) -> str:
        query = "What is the boat called, and where is its berth?"
        found = await service.search_memory(app_name=app_name, user_id=user_id, query=query)
        return texts(found.memories)

    found = await search("harbour", user)
    assert "Nautilus" in found and noted in found
    assert await search("harbour", f"{user}-other") == "" == await search("kennel", user)


async def test_what_is_deleted_is_found_no_more(
    client: Client, service: MemoryServerMemoryService, user: str
) -> None:
    said, talk = event("My dog is called Biscuit."), conversation_of("kennel", user, "monday")
    session = Session(id="monday", app_name="kennel", user_id=user, events=[said])
    await service.add_session_to_memory(session)
    await service.close_session(session)
    client.wait_for(client.flush(talk))
    entry = MemoryEntry(content=Content(parts=[Part(text="Biscuit sleeps in the blue basket.")]))
    await service.add_memory(app_name="kennel", user_id=user, memories=[entry])

    async def search() -> dict[str, MemoryEntry]:
        found = await service.search_memory(
            app_name="kennel", user_id=user, query="Where is Biscuit?"
        )
        return {one.custom_metadata["kind"]: one for one in found.memories}

    found = await search()
    receipt = found["fact"].custom_metadata["receipt"]
    assert client.get_retrieval(receipt)["query"] == "Where is Biscuit?"
    for kind in ("fact", "note"):
        for app, whose in (("other", user), ("kennel", f"{user}-other")):
            with pytest.raises(NotImplementedError, match="own facts and notes"):
                await service.delete_memory(app_name=app, user_id=whose, memory_id=found[kind].id)
        await service.delete_memory(app_name="kennel", user_id=user, memory_id=found[kind].id)
    (message,) = client.list_messages(talk)
    with pytest.raises(NotImplementedError, match="erase"):
        await service.delete_memory(app_name="kennel", user_id=user, memory_id=message["id"])
    await service.delete_memory(app_name="kennel", user_id=user)
    assert await search() == {}
