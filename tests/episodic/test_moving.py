"""Conversations that get a user later, or another one: what is found of them goes along."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from episodic import moving
from episodic.models import Conversation
from indexing.models import SearchUnit, SearchVector, ShelfSize
from indexing.owners import scope_of
from jobs.draining import drain_jobs
from jobs.models import Job, Kind, State
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.talk import MORNING, MOVING, messages

pytestmark = pytest.mark.django_db
QUERY = "Where does Mira work in Rotterdam?"


@pytest.fixture(scope="module")
def talk(ana: Agent) -> uuid.UUID:
    """A conversation of nobody, that is processed."""
    talk = uuid.uuid4()
    body = {"conversation_id": str(talk), "messages": messages(MOVING, MORNING)}
    assert ana.post("add_messages", body).status_code == 201
    ana.flush(talk)
    return talk


def asked(agent: Agent, **where: Any) -> str:
    answer = agent.post("retrieve_memory", {"query": QUERY, "max_tokens": 300, **where})
    assert answer.status_code == 200, answer.content
    return str(answer.content.decode())


def owners(agent: Agent) -> set[uuid.UUID | None]:
    units, vectors = (
        set(table.objects.of(agent.tenant).values_list("user_scope", flat=True))
        for table in (SearchUnit, SearchVector)
    )
    assert units == vectors
    return units


def name_user(agent: Agent, talk: uuid.UUID, user: str) -> None:
    message = {"role": "user", "content": "Hello again."}
    body = {"conversation_id": str(talk), "user_id": user, "message": message}
    assert agent.post("add_message", body).status_code == 201


def row_of(agent: Agent, talk: uuid.UUID) -> Conversation:
    return Conversation.objects.of(agent.tenant).get(external_id=talk)


def test_what_gets_a_user_later_is_found_at_once_and_then_moved(
    ana: Agent, talk: uuid.UUID
) -> None:
    of_user = {"scope": "user", "user_id": "mira"}
    assert asked(ana, **of_user) == ""
    before = asked(ana, conversation_id=str(talk))
    name_user(ana, talk, "mira")
    assert not row_of(ana, talk).in_user_scope
    assert owners(ana) == {None}
    assert "Rotterdam" in asked(ana, **of_user)
    assert asked(ana, **of_user) == asked(ana, conversation_id=str(talk)) == before
    moving.queue_moves(at_most=10)
    drain_jobs()
    assert row_of(ana, talk).in_user_scope
    assert owners(ana) == {scope_of(ana.tenant.id, "mira")}
    assert asked(ana, **of_user) == asked(ana, conversation_id=str(talk)) == before


def test_amid_a_move_nothing_is_missed_and_nothing_found_twice(ana: Agent, talk: uuid.UUID) -> None:
    name_user(ana, talk, "mira")
    before = asked(ana, scope="user", user_id="mira")
    place = row_of(ana, talk)
    mira = scope_of(ana.tenant.id, "mira")
    while moving.move_units(
        tenant=ana.tenant, conversation_id=place.id, origin=None, target=mira, at_most=7
    ):
        assert asked(ana, scope="user", user_id="mira") == before
        assert asked(ana, conversation_id=str(talk)) == before
    assert owners(ana) == {mira}


def test_a_move_is_queued_once(ana: Agent, talk: uuid.UUID) -> None:
    name_user(ana, talk, "mira")
    moving.queue_moves(at_most=10)
    moving.queue_moves(at_most=10)
    assert Job.objects.of(ana.tenant).filter(kind=Kind.MOVE, state=State.READY).count() == 1


def test_a_conversation_becomes_another_users_and_is_given_back(
    ana: Agent, talk: uuid.UUID
) -> None:
    name_user(ana, talk, "mira")
    moving.queue_moves(at_most=10)
    drain_jobs()
    before = asked(ana, scope="user", user_id="mira")
    for old, new in (("mira", "olga"), ("olga", "mira"), ("mira", ""), ("", "mira")):
        answer = ana.post(f"conversations/{talk}/user", {"user_id": new})
        assert (answer.status_code, answer.json()) == (202, {"previous_user_id": old or None})
        if old:
            assert asked(ana, scope="user", user_id=old) == before, "until it changes hands"
        if new:
            assert asked(ana, scope="user", user_id=new) == ""
        drain_jobs()
        assert row_of(ana, talk).user_id == new
        if old:
            assert asked(ana, scope="user", user_id=old) == ""
        if new:
            assert asked(ana, scope="user", user_id=new) == before
        assert owners(ana) == {scope_of(ana.tenant.id, new)}
        assert asked(ana, conversation_id=str(talk)) == before
    left = ShelfSize.objects.of(ana.tenant).filter(conversation=None).exclude(units=0)
    assert {row.user_scope for row in left} == {scope_of(ana.tenant.id, "mira")}


def test_amid_a_change_of_hands_one_user_sees_it_and_no_two(ana: Agent, talk: uuid.UUID) -> None:
    name_user(ana, talk, "mira")
    moving.queue_moves(at_most=10)
    drain_jobs()
    before = asked(ana, scope="user", user_id="mira")
    moving.change_user(tenant=ana.tenant, external_id=talk, user_id="olga")
    place, mira = row_of(ana, talk), scope_of(ana.tenant.id, "mira")
    while moving.move_units(
        tenant=ana.tenant, conversation_id=place.id, origin=mira, target=None, at_most=7
    ):
        assert asked(ana, scope="user", user_id="mira") == before
        assert asked(ana, scope="user", user_id="olga") == ""


def test_who_may_not_move_what_is_said(ana: Agent, cleo: Agent, talk: uuid.UUID) -> None:
    path = f"conversations/{talk}/user"
    assert_problem(cleo.post(path, {"user_id": "mira"}), 404)
    assert_problem(ana.post(f"conversations/{uuid.uuid4()}/user", {"user_id": "mira"}), 404)
    assert_problem(ana.post(path, {"user_id": ""}), 409)
    assert_problem(ana.post(path, {}), 400, "user_id")
