"""What a user's conversations, or the tenant's, know is found from any of them, if asked for."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages

pytestmark = pytest.mark.django_db
QUERY = "Where does Mira work in Rotterdam?"


@pytest.fixture(scope="module")
def talks(ana: Agent, cleo: Agent) -> dict[str, str]:
    """Two conversations of mira, one of somebody else, and one of a stranger's mira."""
    talks = {name: str(uuid.uuid4()) for name in ("moving", "running", "other", "stranger")}
    for name, lines, agent, user in (
        ("moving", messages(MOVING, MORNING), ana, "mira"),
        ("running", messages(RUNNING, EVENING), ana, "mira"),
        ("other", messages(MOVING, MORNING), ana, "olga"),
        ("stranger", messages(MOVING, MORNING), cleo, "mira"),
    ):
        body = {"conversation_id": talks[name], "user_id": user, "messages": lines}
        assert agent.post("add_messages", body).status_code == 201
        agent.flush(uuid.UUID(talks[name]))
    return talks


def places(agent: Agent, talk: str, **more: Any) -> set[str]:
    """Return the conversations from which facts and episodes are served."""
    body = {"conversation_id": talk, "query": QUERY, "episodic_limit": 50, **more}
    answer = agent.post("retrieve_memory/raw", body)
    assert answer.status_code == 200, answer.content
    shown = answer.json()
    return {one["conversation_id"] for kind in ("semantic", "episodic") for one in shown[kind]}


def test_a_scope_says_where_to_look(ana: Agent, talks: dict[str, str]) -> None:
    mine = {talks["moving"], talks["running"]}
    for talk in mine:
        assert places(ana, talk) == places(ana, talk, scope="conversation") == {talk}
        assert places(ana, talk, scope="user") == mine
        assert places(ana, talk, scope="tenant") == {*mine, talks["other"]}
    assert places(ana, talks["moving"], scope="user", user_id="olga") == {talks["other"]}


def test_a_new_conversation_starts_with_what_its_user_said(
    ana: Agent, talks: dict[str, str]
) -> None:
    fresh = {"conversation_id": str(uuid.uuid4()), "query": QUERY}
    for call in ("retrieve_memory", "context_pre_retrieve"):
        assert ana.post(call, fresh).content == b""
        assert ana.post(call, {**fresh, "scope": "user"}).content == b""
        shared = {**fresh, "scope": "user", "user_id": "mira"}
        assert "Rotterdam" in ana.post(call, shared).content.decode()
        packed = ana.post(call, {**shared, "max_tokens": 60})
        assert b"Rotterdam" in packed.content
    assert ana.get(f"conversations/{fresh['conversation_id']}").status_code == 404


def test_what_is_shared_is_ordered_as_in_one_conversation(
    ana: Agent, talks: dict[str, str]
) -> None:
    body = {"conversation_id": talks["moving"], "query": QUERY, "explain": True, "fence": True}
    own, shared = (
        ana.post("retrieve_memory/raw", {**body, "scope": scope}).json()
        for scope in ("conversation", "user")
    )
    assert shared["semantic"][0]["id"] == own["semantic"][0]["id"]
    for hit in shared["explain"]["hits"].values():
        assert 0 < hit["score"] <= hit["rrf"] <= 2 / 61 + 1e-9
        assert hit["score"] == pytest.approx(hit["rrf"] * hit["retrievability"])
    receipt = ana.get(f"retrievals/{shared['receipt']}").json()
    assert receipt["parameters"]["scope"] == "user"
    assert {hit["memory_id"] for hit in receipt["hits"]} == set(shared["explain"]["hits"])


def test_what_a_scope_cannot_do_is_refused(ana: Agent, talks: dict[str, str]) -> None:
    body = {"conversation_id": talks["moving"], "query": QUERY}
    for wrong, field in (
        ({"scope": "world"}, "scope"),
        ({"user_id": "mira"}, "user_id"),
    ):
        error = assert_problem(ana.post("retrieve_memory", {**body, **wrong}), 400)
        assert list(error["fields"]) == [field]


def test_what_several_conversations_say_is_told_once(ana: Agent) -> None:
    said = [
        "I am allergic to peanuts, never suggest them.",
        "I work as a data analyst at the harbour authority.",
        "The staging database listens on port 5544.",
    ]
    for is_settled in (True, True, False, False):
        talk = uuid.uuid4()
        for content in said:
            ana.say(talk, content)
        if is_settled:
            ana.flush(talk)
    for query in ("Where do I work?", "Which port has the staging database?", "Peanuts?"):
        for fresh in (False, True):
            body = {"query": query, "scope": "tenant", "max_tokens": 1000, "fresh": fresh}
            answer = ana.post("retrieve_memory", body)
            blocks = answer.content.decode().split("## Recent Messages")
            for block in blocks:
                assert [block.count(content) <= 1 for content in said] == [True] * 3
            assert any(query.split()[-1][:4].casefold() in block.casefold() for block in blocks)


def test_what_is_said_anew_on_another_day_is_told_again(ana: Agent) -> None:
    for day in (3, 4):
        talk = uuid.uuid4()
        ana.say(talk, "I ran five kilometers today.", timestamp=f"2026-11-0{day}T10:00:00Z")
        ana.flush(talk)
    body = {"query": "When did I run?", "scope": "tenant", "max_tokens": 1000}
    text = ana.post("retrieve_memory", body).content.decode()
    assert "3 November" in text and "4 November" in text
