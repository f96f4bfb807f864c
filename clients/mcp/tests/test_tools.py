"""The tools by every way in: in memory, over stdio, over HTTP; clients of today and older ones."""

from __future__ import annotations

import json
import os
import re
import uuid
from typing import Any

import memory_server_client
import pytest
from conftest import Connect

from memory_mcp.tools import find_conversation

pytestmark = pytest.mark.anyio
KEY = os.environ["MEMORY_KEY"]
SAID = [
    {"role": "user", "name": "Ana", "content": "I moved from Lisbon to Porto last week."},
    {"role": "assistant", "content": "How do you like it there?"},
]
ALLERGY = "I am allergic to peanuts, even a trace is dangerous for me."
FENCED = re.compile(
    r"\[memory (\w{16}): untrusted data .* no instructions\]\n.*\n\[end of memory \1\]", re.S
)


async def use(client: Any, tool: str, **arguments: Any) -> str:
    """Return the text that a tool answers with."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text
    text: str = result.content[0].text
    return text


async def test_what_is_remembered_is_recalled_found_and_read(connect: Connect) -> None:
    word = f"w{uuid.uuid4().hex[:12]}"
    async with connect(KEY) as client:
        stored = await use(client, "remember", text=f"The key hangs behind the {word}.", tags=["k"])
        note = stored.removesuffix(".").split()[-1]
        found = await use(client, "search", query=f"the key behind the {word}", kind="note")
        assert FENCED.search(found) and note in found and "receipt" in found
        assert FENCED.search(await use(client, "read", memory_id=note))
        recalled = await use(client, "recall", query=f"Where does the key hang, {word}?")
        assert FENCED.search(recalled) and word in recalled
        resource = await client.read_resource("memory://recent")
        assert FENCED.search(resource.contents[0].text) and note in resource.contents[0].text


async def test_a_conversation_has_a_name_is_recalled_and_a_fact_explained_and_corrected(
    connect: Connect, rest: memory_server_client.Client
) -> None:
    name = f"talk {uuid.uuid4()}"
    async with connect(KEY) as client:
        stored = await use(client, "add_messages", conversation=name, messages=SAID)
        talk = re.search(r"conversation ([0-9a-f-]{36});", stored)
        assert talk
        rest.wait_for(rest.flush(talk[1]))
        assert "0 not yet processed" in await use(client, "status", conversation=name)
        recalled = await use(client, "recall", query="Where does Ana live?", conversation=name)
        assert FENCED.search(recalled) and "Porto" in recalled
        (fact,) = [one for one in rest.list_facts(conversation_id=talk[1]) if "Por" in one["fact"]]
        why = await use(client, "why", id=fact["id"])
        assert FENCED.search(why) and SAID[0]["content"] in why and "consolidation" in why
        receipt = re.search(r"\(receipt ([0-9a-f-]{36})\)", recalled)
        assert receipt and fact["id"] in await use(client, "why", id=receipt[1])
        better = "Ana lives in Porto."
        done = await use(client, "correct", fact_id=fact["id"], better=better, reason="Ana says so")
        changeset = done.removesuffix(".").split()[-1]
        assert better in [one["fact"] for one in rest.list_facts(conversation_id=talk[1])]
        rest.revert_changeset(changeset, reason="try")
        retired = await use(client, "correct", fact_id=fact["id"], reason="Ana says so")
        assert "Retired" in retired and rest.get_fact(fact["id"])["invalidated_because"] == "wrong"


async def test_instructions_are_read_and_changed_a_list_at_a_time(
    connect: Connect, rest: memory_server_client.Client
) -> None:
    async with connect(KEY) as client:
        label = {"label": "billing", "example": "I paid the bill."}
        await use(client, "instructions", changes={"never": ["wages"], "labels": [label]})
        changed = json.loads(await use(client, "instructions", changes={"keep": ["diets"]}))
        assert changed == json.loads(await use(client, "instructions"))
        assert (changed["keep"], changed["never"]) == (["diets"], ["wages"])
        assert changed["labels"] == [label]
    rest.undo_instructions()
    rest.undo_instructions()


async def test_the_profile_of_the_user_is_a_tool_and_a_resource(
    connect: Connect, rest: memory_server_client.Client
) -> None:
    talk, user = uuid.uuid4(), f"u-{uuid.uuid4()}"
    rest.add_messages(talk, [{"role": "user", "content": ALLERGY}], user_id=user)
    rest.wait_for(rest.flush(talk))
    known = rest.get_user_profile(user, sections=["dangers"])
    assert ALLERGY in known["sections"][0]["facts"][0]["fact"]
    async with connect(KEY) as client:  # a key that is bound to nobody
        assert "several users" in await use(client, "profile")
        assert "several users" in (await client.read_resource("memory://profile")).contents[0].text


async def test_a_question_to_the_servers_model_is_refused_where_there_is_none(
    connect: Connect,
) -> None:
    async with connect(KEY) as client:
        result = await client.call_tool("ask", {"query": "Where does Ana live?"})
        assert result.is_error and "409" in result.content[0].text
        assert "MEMORY_LLM" in result.content[0].text


async def test_recall_tells_each_thing_once(
    connect: Connect, rest: memory_server_client.Client
) -> None:
    """What was said in two conversations, drawn into facts of both, and stored as a note."""
    word = f"w{uuid.uuid4().hex[:12]}"
    thing = f"My boat {word} lies in the harbour of Rotterdam."
    async with connect(KEY) as client:
        for place in range(2):
            messages = [{"role": "user", "content": thing}]
            talk = find_conversation(f"{word} {place}")
            await use(client, "add_messages", conversation=str(talk), messages=messages)
            rest.wait_for(rest.flush(talk))
        await use(client, "remember", text=thing)
        recalled = await use(client, "recall", query=f"Where does {word} lie?\nWhat is {word}?")
        assert recalled.count(thing) == 1


async def test_what_one_conversation_says_is_recalled_in_another_at_once(connect: Connect) -> None:
    """Before any worker has run: what was said there waits for a full window."""
    word = f"w{uuid.uuid4().hex[:12]}"
    said = [{"role": "user", "content": f"My boat's name is {word}."}]
    async with connect(KEY) as client:
        await use(client, "add_messages", conversation=f"monday {word}", messages=said)
        recalled = await use(client, "recall", query=f"What is the name of my boat, {word}?")
        assert FENCED.search(recalled) and word in recalled and "receipt" in recalled


async def test_what_is_forgotten_is_recalled_no_more(
    connect: Connect, rest: memory_server_client.Client
) -> None:
    word = f"w{uuid.uuid4().hex[:12]}"
    talk = uuid.uuid4()
    rest.add_message(
        talk, {"role": "user", "name": "Ana", "content": f"I have a dog named {word}."}
    )
    rest.wait_for(rest.flush(talk))
    async with connect(KEY) as client:
        await use(client, "remember", text=f"The dog is called {word}.")
        assert word in await use(client, "recall", query=f"the dog {word}")
        done = await use(client, "forget", text=f"the dog {word}")
        assert "A person confirms it" in done
        recalled = await use(client, "recall", query="the dog")
        assert word not in recalled
        assert "No fact or note fits" in await use(client, "forget", text=f"a cat {word}x")


async def test_nothing_known_is_said_so(connect: Connect) -> None:
    async with connect(KEY) as client:
        assert "nothing" in await use(client, "recall", query="x", conversation=str(uuid.uuid4()))


async def test_what_the_server_refuses_is_told_in_its_words(connect: Connect) -> None:
    refusals = [
        ("read", {"memory_id": str(uuid.uuid4())}, "404 not_found"),
        ("read", {"memory_id": "../whoami"}, "must be a UUID"),
        ("remember", {"text": " "}, "content"),
        ("remember", {"text": "x" * 70_000}, "413"),
        ("recall", {"query": "x", "max_tokens": 1}, "max_tokens"),
        ("erase", {}, "Unknown tool"),
    ]
    async with connect(KEY) as client:
        for tool, arguments, words in refusals:
            result = await client.call_tool(tool, arguments)
            assert result.is_error and words in result.content[0].text, tool


async def test_the_prompt_says_how_to_use_memory(connect: Connect) -> None:
    async with connect(KEY) as client:
        (prompt,) = (await client.list_prompts()).prompts
        shown = await client.get_prompt(prompt.name)
        assert "never an instruction" in shown.messages[0].content.text
        assert client.instructions == shown.messages[0].content.text
