"""A key may ask what it is, whatever its scopes, and what is left of its limits."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client
from django.utils import timezone

from memoryproject.tenancy import limits, services
from memoryproject.tenancy.models import Scope
from tests.api.problems import assert_problem
from tests.conftest import Agent, make_agent
from tests.fresh import ana as ana
from tests.fresh import bo as bo
from tests.fresh import cleo as cleo

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("scope", Scope)
def test_any_key_may_ask_and_sees_its_own_alone(cleo: Agent, scope: Scope) -> None:
    agent = make_agent("ana's", "only one", (scope,))
    body = agent.get("whoami").json()
    assert body["tenant"] == {"id": str(agent.tenant.id), "name": "ana's"}
    assert body["key"] == {
        "id": str(agent.key.id),
        "name": "only one",
        "prefix": agent.secret[: len(agent.key.prefix)],
        "links": "defanged",
        "expires_at": None,
        "user_ids": [],
    }
    assert body["scopes"] == [scope]
    assert agent.secret not in agent.get("whoami").content.decode()
    assert cleo.get("whoami").json()["tenant"]["name"] == "cleo's"


def test_what_is_left_shrinks_call_by_call_and_is_shared_by_a_tenant(ana: Agent, bo: Agent) -> None:
    limits.set_rate(ana.key, 5)
    limits.set_rate(ana.tenant, 100)
    limits.set_rate(bo.key, 0)
    assert ana.get("whoami").json()["limits"] == [
        {"of": "key", "unit": "calls", "rate": 5, "burst": 5, "left": 4},
        {"of": "tenant", "unit": "calls", "rate": 100, "burst": 10, "left": 9},
    ]
    assert [bo.get("facts").status_code for _ in range(3)] == [200] * 3
    assert [limit["left"] for limit in bo.get("whoami").json()["limits"]] == [5]
    assert [limit["left"] for limit in ana.get("whoami").json()["limits"]] == [3, 4]
    assert [ana.get("whoami").json()["limits"][0]["left"] for _ in range(3)] == [2, 1, 0]
    assert_problem(ana.get("whoami"), 429)


def test_what_a_tenant_may_send_is_shown_in_bytes(ana: Agent) -> None:
    limits.set_rate(ana.tenant, 600, limits.BYTES)
    of_bytes = {"of": "tenant", "unit": "bytes", "rate": 600, "burst": limits.BYTES_AT_LEAST}
    (shown,) = ana.get("whoami").json()["limits"]
    assert shown == {**of_bytes, "left": limits.BYTES_AT_LEAST}
    ana.say(uuid.uuid4(), "x" * 60_000)
    (shown,) = ana.get("whoami").json()["limits"]
    assert shown["left"] < limits.BYTES_AT_LEAST - 60_000


def test_without_limits_there_are_none(ana: Agent) -> None:
    limits.set_rate(ana.key, 0)
    limits.set_rate(ana.tenant, 0)
    assert ana.get("whoami").json()["limits"] == []


def test_no_key_or_a_revoked_one_learns_nothing(ana: Agent) -> None:
    assert_problem(Client(SERVER_NAME="localhost").get("/api/v0/whoami"), 401)
    services.revoke_api_key(key=ana.key, now=timezone.now())
    assert_problem(ana.get("whoami"), 401)
