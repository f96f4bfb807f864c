"""Plans that a connection keeps: who lends its session to others still gets the same answer."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection, transaction

from tests.conftest import Agent, tell
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo

pytestmark = pytest.mark.django_db(transaction=True)


def ask(agent: Agent, told: uuid.UUID) -> str:
    body = {"conversation_id": str(told), "query": "moving to Rotterdam, running"}
    answer = agent.post("retrieve_memory", body)
    assert answer.status_code == 200
    return str(answer.content.decode())


def list_kept() -> set[str]:
    """Return the names of the plans that the session has."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM pg_prepared_statements")
        return {name for (name,) in cursor.fetchall()}


def test_a_session_that_lost_its_plans_makes_them_again(ana: Agent) -> None:
    told = tell(ana, uuid.uuid4())
    first = ask(ana, told)
    kept = list_kept()
    assert kept
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")  # as the session of another client of a pooler has none
    assert ask(ana, told) == first
    assert list_kept() == kept


def test_a_session_that_has_them_from_somebody_else_uses_them(ana: Agent) -> None:
    told = tell(ana, uuid.uuid4())
    first = ask(ana, told)
    kept = list_kept()
    vars(connection.connection).pop("kept_plans")
    assert ask(ana, told) == first
    assert list_kept() == kept


def test_within_a_transaction_nothing_is_kept_and_the_answer_is_the_same(ana: Agent) -> None:
    told = tell(ana, uuid.uuid4())
    before = list_kept()
    with transaction.atomic():
        first = ask(ana, told)
        assert list_kept() == before
    assert ask(ana, told) == first


def test_a_plan_serves_each_tenant_its_own(ana: Agent, cleo: Agent) -> None:
    told = tell(ana, uuid.uuid4())
    assert "Rotterdam" in ask(ana, told)
    assert "Rotterdam" not in ask(cleo, told)
