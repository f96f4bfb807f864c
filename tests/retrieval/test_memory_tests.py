"""Memory tests: a tenant keeps questions with expectations, and sees what a change broke."""

from __future__ import annotations

import uuid
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from jobs.draining import drain_jobs
from retrieval.models import MemoryTest, Retrieval
from semantic.models import Fact
from tests.api.problems import assert_problem
from tests.conftest import Agent, tell
from wings.memory_tests import memory_tests

pytestmark = pytest.mark.django_db

WHY = "She said so."


def add(agent: Agent, conversation: uuid.UUID, **expected: Any) -> dict[str, Any]:
    body = {"conversation_id": str(conversation), "query": "Where does Mira live?", **expected}
    answer = agent.post("memory_tests", body)
    assert answer.status_code == 201, answer.content
    test: dict[str, Any] = answer.json()
    return test


def rotterdam(agent: Agent) -> Fact:
    return Fact.objects.of(agent.tenant).get(fact__contains="harbour", invalid_at=None)


def test_each_expectation_is_judged(ana: Agent, told: uuid.UUID) -> None:
    test = add(ana, told, must_say=["rotterdam"], must_not_say=["Atlantis"], at_most_tokens=9_000)
    assert (test["passes"], test["failures"], test["made_by"]) == (True, [], "key ana")
    test = add(ana, told, must_say=["Rotterdam", "Atlantis"], must_not_say=["ROTTERDAM"])
    assert (test["passes"], test["failures"]) == (False, ["must_say.1", "must_not_say.0"])
    test = add(ana, told, at_most_tokens=5, max_tokens=300)
    assert test["failures"] == ["at_most_tokens"]
    assert not Retrieval.objects.of(ana.tenant).filter(query=test["query"]).exists()


def test_a_changeset_runs_the_tests_and_is_named_by_what_it_broke(
    ana: Agent, told: uuid.UUID
) -> None:
    fact = rotterdam(ana)
    test = add(ana, told, must_say=[fact.fact], must_not_say=["declared wrong"])
    answer = ana.post(f"facts/{fact.id}/invalidate", {"because": "wrong", "reason": WHY})
    drain_jobs()
    (shown,) = ana.get("memory_tests").json()["items"]
    assert (shown["id"], shown["passes"]) == (test["id"], False)
    assert "must_say.0" in shown["failures"]
    assert shown["broken_by"] == answer.json()["changeset_id"]
    ana.post(f"changesets/{shown['broken_by']}/revert", {"reason": WHY})
    drain_jobs()
    (shown,) = ana.get("memory_tests").json()["items"]
    assert (shown["passes"], shown["broken_by"]) == (True, None)


def test_a_marked_line_may_hold_what_must_not_be_said(ana: Agent, told: uuid.UUID) -> None:
    fact = rotterdam(ana)
    right = fact.fact.replace("Rotterdam", "Delft")
    ana.post(f"facts/{fact.id}/correct", {"fact": right, "reason": WHY})
    test = add(ana, told, must_say=["Delft"], must_not_say=[fact.fact])
    assert test["passes"]


def test_the_command_runs_them_and_fails_with_them(ana: Agent, told: uuid.UUID) -> None:
    out = StringIO()
    add(ana, told, must_say=["Rotterdam"])
    call_command("run_memory_tests", tenant=ana.tenant.name, stdout=out)
    assert "passes" in out.getvalue()
    add(ana, told, must_say=["Atlantis"])
    with pytest.raises(CommandError, match="1"):
        call_command("run_memory_tests", tenant=ana.tenant.name, stdout=out)
    assert "fails: must_say.0" in out.getvalue()
    assert ana.post("memory_tests/run").json() == {"passed": 1, "failed": 1}


def test_bad_tests_are_refused(ana: Agent, told: uuid.UUID) -> None:
    body = {"conversation_id": str(told), "query": "Where?"}
    assert_problem(ana.post("memory_tests", body), 400)
    assert_problem(ana.post("memory_tests", body | {"must_say": [" "]}), 400)
    unknown = {"conversation_id": str(uuid.uuid4()), "must_say": ["x"]}
    assert_problem(ana.post("memory_tests", body | unknown), 404)
    MemoryTest.objects.bulk_create(
        MemoryTest(
            tenant=ana.tenant,
            conversation=rotterdam(ana).conversation,
            query="Where?",
            at_most_tokens=1,
            made_by="ana",
        )
        for _ in range(memory_tests.TESTS_AT_MOST)
    )
    assert_problem(ana.post("memory_tests", body | {"must_say": ["x"]}), 409)


def test_a_stranger_has_tests_of_her_own(ana: Agent, cleo: Agent, told: uuid.UUID) -> None:
    test = add(ana, told, must_say=["Rotterdam"])
    assert cleo.get("memory_tests").json()["items"] == []
    path = f"/api/v0/memory_tests/{test['id']}"
    assert cleo.client.delete(path).status_code == 404
    assert cleo.post("memory_tests/run").json() == {"passed": 0, "failed": 0}
    hers = tell(cleo, uuid.uuid4())
    assert_problem(cleo.post("memory_tests", {"conversation_id": str(told), "query": "x",
                                              "must_say": ["x"]}), 404)  # fmt: skip
    assert add(cleo, hers, must_say=["Rotterdam"])["passes"]
    assert ana.client.delete(path).status_code == 204
    assert not MemoryTest.objects.of(ana.tenant).exists()
