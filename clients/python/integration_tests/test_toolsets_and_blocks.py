"""The pydantic-ai toolset and the LlamaIndex block, beyond what the README's programs show."""

from __future__ import annotations

import os
import uuid

from llama_index.core.llms import ChatMessage
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

from memory_server_client import Client
from memory_server_client.integrations.keeping import NOTHING
from memory_server_client.integrations.llamaindex import MemoryServerBlock
from memory_server_client.integrations.pydantic_ai import MemoryServerToolset


async def test_a_model_is_told_of_the_tools(client: Client) -> None:
    model = TestModel(call_tools=[])
    await Agent(model, toolsets=[MemoryServerToolset(client)]).run("Hello.")
    assert model.last_model_request_parameters is not None
    tools = {tool.name: tool for tool in model.last_model_request_parameters.function_tools}
    assert set(tools) == {"recall", "remember", "forget"}
    assert "Ask before you answer" in (tools["recall"].description or "")
    assert tools["remember"].parameters_json_schema["required"] == ["text"]


def test_what_is_remembered_is_recalled_by_its_tenant_alone(client: Client) -> None:
    toolset, word = MemoryServerToolset(client, max_tokens=200), uuid.uuid4().hex
    toolset.remember(f"The harbour's word is {word}.", tags=["harbour"])
    assert word in toolset.recall(f"harbour's word {word}")
    with Client(key=os.environ["MEMORY_STRANGER_KEY"]) as stranger:
        assert MemoryServerToolset(stranger).recall(word) == NOTHING


async def test_a_block_answers_the_last_question_of_the_user(
    client: Client, told: uuid.UUID
) -> None:
    block = MemoryServerBlock(client=client, conversation_id=told)
    asked = [
        ChatMessage("What am I allergic to?"),
        ChatMessage("Where does my sister live?"),
        ChatMessage("Let me see.", role="assistant"),
    ]
    text = await block.aget(asked)
    assert "Braga" in text and text.startswith("[memory")
    assert await block.aget([]) == "" == await block.aget(asked[2:])
    assert await block.aget([ChatMessage(" ")]) == ""


async def test_a_block_stores_what_has_text(client: Client, talk: uuid.UUID) -> None:
    block = MemoryServerBlock(client=client, conversation_id=talk)
    said = [ChatMessage("Hi.", role=role) for role in ("user", "model", "developer", "function")]
    await block.aput([*said, ChatMessage("", role="assistant")], from_short_term_memory=True)
    roles = [message["role"] for message in client.list_messages(talk)]
    assert roles == ["user", "assistant", "system", "tool"]


async def test_a_user_is_known_in_the_next_session_at_once(client: Client) -> None:
    """Before any worker has run, and to nobody else."""
    user, other = f"u-{uuid.uuid4()}", f"u-{uuid.uuid4()}"
    monday = MemoryServerBlock(client=client, conversation_id=uuid.uuid4(), user_id=user)
    await monday.aput([ChatMessage("My boat is called Nautilus.")], from_short_term_memory=True)
    asked = [ChatMessage("What is my boat called?")]
    friday = MemoryServerBlock(client=client, conversation_id=uuid.uuid4(), user_id=user)
    assert "Nautilus" in await friday.aget(asked)
    theirs = MemoryServerBlock(client=client, conversation_id=uuid.uuid4(), user_id=other)
    assert await theirs.aget(asked) == ""
    await monday.aclose()
    client.wait_for(client.flush(monday.conversation_id))
    knowing = friday.model_copy(update={"profile_tokens": 200})
    assert "Nautilus" in await knowing.aget([ChatMessage("Hello!", role="assistant")])
    assert "Nautilus" in MemoryServerToolset(client, user_id=user).recall("my boat")
    assert MemoryServerToolset(client, user_id=other).recall("my boat") == NOTHING


def test_what_is_forgotten_is_recalled_no_more(client: Client) -> None:
    user, word = f"u-{uuid.uuid4()}", f"w{uuid.uuid4().hex[:12]}"
    toolset = MemoryServerToolset(client, user_id=user)
    toolset.remember(f"The dog is called {word}.")
    assert word in toolset.recall(f"the dog {word}")
    assert "1 memories are forgotten" in toolset.forget(f"the dog {word}")
    assert toolset.recall(f"the dog {word}") == NOTHING
