"""A conversation has a user and an agent, by whom what it left can be narrowed."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.talk import whole_talk

pytestmark = pytest.mark.django_db
ANA, BOT = {"user_id": "ana"}, {"agent_id": "bot"}


def tell(agent: Agent, **owner: str) -> str:
    """Have a conversation on two topics, processed; return its id."""
    conversation = str(uuid.uuid4())
    body = {"conversation_id": conversation, **owner, "messages": whole_talk()}
    assert agent.post("add_messages", body).status_code == 201
    agent.flush(uuid.UUID(conversation))
    return conversation


def add(agent: Agent, conversation: str, **owner: Any) -> Any:
    message = {"role": "user", "content": "Hello."}
    return agent.post("add_message", {"conversation_id": conversation, "message": message, **owner})


def owner_of(agent: Agent, conversation: str) -> tuple[Any, Any]:
    state = agent.get(f"conversations/{conversation}").json()
    return state["user_id"], state["agent_id"]


def test_the_first_call_that_names_an_owner_decides(ana: Agent) -> None:
    talk = str(uuid.uuid4())
    assert add(ana, talk).status_code == 201
    assert owner_of(ana, talk) == (None, None)
    assert add(ana, talk, user_id="ana", agent_id=None).status_code == 201
    assert owner_of(ana, talk) == ("ana", None)
    assert add(ana, talk, agent_id="bot").status_code == 201
    assert add(ana, talk, user_id="ana").status_code == 201
    assert owner_of(ana, talk) == ("ana", "bot")


def test_another_owner_is_refused_and_nothing_is_stored(ana: Agent) -> None:
    talk = str(uuid.uuid4())
    add(ana, talk, **ANA)
    for other in ({"user_id": "bo"}, {"user_id": "ana", "agent_id": "bot", **{"user_id": "bo"}}):
        assert "user_id" in assert_problem(add(ana, talk, **other), 409)["message"]
    assert owner_of(ana, talk) == ("ana", None)
    assert ana.get(f"conversations/{talk}").json()["messages"] == 1
    for wrong in ("", "x" * 256, 7):
        assert_problem(add(ana, talk, user_id=wrong), 400)


def test_lists_are_narrowed_by_owner(ana: Agent, cleo: Agent) -> None:
    hers, other = tell(ana, **ANA, **BOT), tell(ana, user_id="bo")
    tell(cleo, **ANA, **BOT)
    for call in ("conversations", "facts", "episodes", "changesets"):
        place = "id" if call == "conversations" else "conversation_id"
        for owner, wanted in ((ANA, hers), (BOT, hers), ({"user_id": "bo"}, other)):
            items = ana.get(call, **owner).json()["items"]
            assert {item[place] for item in items} == {wanted}, (call, owner)
        assert ana.get(call, user_id="bo", agent_id="bot").json()["items"] == []
    lines = ana.get("messages", conversation_id=hers, name="Mira").json()["items"]
    assert lines and {line["name"] for line in lines} == {"Mira"}


def test_search_and_reconstruction_find_a_users_facts_and_episodes(ana: Agent) -> None:
    hers = tell(ana, **ANA, **BOT)
    tell(ana, user_id="bo")
    about = ana.post("notes", {"content": "Mira likes Lisbon.", **ANA}).json()["id"]
    note = {"content": "Lisbon was said.", "conversation_id": hers}
    within = ana.post("notes", note).json()["id"]
    ana.post("notes", {**note, "user_id": "bo"})
    for owner, notes in ((ANA, {about, within}), (BOT, None)):
        question = {"query": "Mira Lisbon", **owner}
        items = ana.post("search", {**question, "max_results": 50}).json()["items"]
        kinds = {item["source_type"] for item in items}
        assert {"fact", "episode", "note"} <= kinds, (owner, kinds)
        places = {item["source_id"] for item in items if item["source_type"] in ("fact", "episode")}
        assert places == {hers}
        found = {item["id"] for item in items if item["source_type"] == "note"}
        assert notes is None or found == notes
        back = {**question, "focus_level": 2, "since": "2020-01-01T00:00:00Z"}
        brought = ana.post("reconstruct_context", back).json()["memories_retrieved"]
        assert {"fact", "episode"} & {one["kind"] for one in brought}
        assert {one["user_id"] for one in brought if one["kind"] != "note"} == {"ana"}
    assert {item["id"] for item in ana.get("notes", **ANA).json()["items"]} == {about, within}


def test_an_erased_conversation_is_nobodys(ana: Agent) -> None:
    talk = str(uuid.uuid4())
    add(ana, talk, **ANA, **BOT)
    wish = {"scope": "conversation", "id": talk, "reason": "Asked for."}
    assert ana.post("erasures", wish).status_code == 200
    assert owner_of(ana, talk) == (None, None)
