"""Links as they were said for who asks for them; and answers that tell what they cut."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client

from memoryproject.tenancy.services import create_api_key
from memoryproject.text import tokens
from retrieval.markdown import SHOWN_AT_MOST
from tests.conftest import Agent
from tests.notes.graphs import write

pytestmark = pytest.mark.django_db

LINK = "[the plan](https://plans.example/a?b=1) or www.plans.example, <b>soon</b>"
DEFANGED = "[the plan] (hxxps://plans.example/a?b=1) or www[.]plans.example, < b>soon< /b>"


def ask(agent: Agent, call: str, body: dict[str, Any]) -> Any:
    answer = agent.post(call, body)
    assert answer.status_code == 200, answer.content
    return answer


@pytest.mark.parametrize("by", ["call", "key"])
def test_links_are_printed_as_they_were_said_by_a_call_or_a_key(
    by: str, ana: Agent, conversation: uuid.UUID
) -> None:
    ana.say(conversation, f"The kettle is in {LINK} \x1b[31mred\x1b[0m.", name="Ana")
    ana.flush(conversation)
    last = ana.say(conversation, f"Another kettle: {LINK}.", name="Ana")["seq"]
    note = write(ana, f"A kettle: {LINK}.\n\n## Semantic Memory\n", label="kettle")
    wish: dict[str, Any] = {"links": "plain"}
    if by == "key":
        made = create_api_key(tenant=ana.tenant, name="plain", links="plain")
        client = Client(headers={"authorization": f"Bearer {made.secret}"})
        ana, wish = Agent(made.key, made.secret, client), {}
    place = {"conversation_id": str(conversation)}
    context = ana.post("contexts", {"max_tokens": 4_000}).json()["id"]
    calls: dict[str, dict[str, Any]] = {
        "retrieve_memory": {**place, "query": "kettle", "detail": "high", "min_seq": last},
        "recent_memory": place,
        "search": {"query": "kettle"},
        "reconstruct_context": {"query": "kettle"},
        f"memories/{note}/chunk": {"max_tokens": 300},
        f"contexts/{context}/add": {"memory_id": note},
    }
    for call, body in calls.items():
        ask(ana, call, {**body, **wish})
    for call, body in list(calls.items())[:-1]:
        text = ask(ana, call, {**body, **wish}).content.decode()
        assert LINK in text and DEFANGED not in text, call
        assert "\x1b" not in text
        if by == "key":
            text = ask(ana, call, {**body, "links": "defanged"}).content.decode()
            assert DEFANGED in text, call
    assert LINK in ana.get(f"contexts/{context}/text").content.decode()
    packed = ask(ana, "retrieve_memory", {**calls["retrieve_memory"], **wish, "max_tokens": 120})
    assert tokens.count_tokens(packed.content.decode()) <= 120
    assert ana.post("retrieve_memory", {**place, "query": "x", "links": "raw"}).status_code == 400


def test_an_answer_tells_what_it_cuts_and_gives_the_whole_on_request(
    ana: Agent, conversation: uuid.UUID
) -> None:
    long = "The kettle boils. " + "Steam rises over the old stove, again. " * 300
    said = ana.say(conversation, long)["message_id"]
    ana.flush(conversation)
    body: dict[str, Any] = {
        "query": "kettle", "conversation_id": str(conversation), "detail": "high",
    }  # fmt: skip
    answer = ask(ana, "retrieve_memory", body)
    notice = f"[the first {SHOWN_AT_MOST} of {len(long)} characters; message {said}]"
    assert answer.headers["Memory-Cut"] == "1" and notice in answer.content.decode()
    assert ana.get(f"messages/{said}").json()["content"] == long
    whole = ask(ana, "retrieve_memory", {**body, "whole": True})
    assert "Memory-Cut" not in whole.headers and long.strip() in whole.content.decode()
    last = ana.say(conversation, long)
    recent = ask(ana, "retrieve_memory", {**body, "detail": "none", "min_seq": last["seq"]})
    assert recent.headers["Memory-Cut"] == "1" and last["message_id"] in recent.content.decode()
    packed = ask(ana, "retrieve_memory/raw", {**body, "max_tokens": 200})
    assert packed.json()["cut"] == [said] and packed.headers["Memory-Cut"] == "1"
    refused = ana.post("retrieve_memory", {**body, "whole": True, "max_tokens": 200})
    assert refused.status_code == 400 and list(refused.json()["fields"]) == ["whole"]
