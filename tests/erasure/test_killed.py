"""Killed at any point of an erasure: all of it goes, once, and nothing is left on the way."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs.draining import drain_jobs
from memoryproject.process.crash_points import Point
from memoryproject.tenancy.models import Tenant
from tests.conftest import Agent
from tests.erasure.lives import CANARY, USER, as_json, digest, dump, erase, write_canary
from tests.erasure.test_canary import mentions
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.jobs.test_crash_points import Forker, finish, start_forker
from tests.talk import whole_talk
from wings.erasure.models import Erasure

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.gate]

POINTS = [
    Point.ERASURE_ASKED,
    Point.CLAIM_WRITTEN,
    Point.CLAIMED,
    Point.EFFECTS_WRITTEN,
    Point.LEASE_CHECKED,
    Point.COMMITTED,
    Point.PAGES_REMOVED,
]
SCOPES = ["message", "conversation", "user"]
KILLED_IN = [*zip(POINTS, SCOPES * 3, strict=False)]
"""Each scope takes the same way: each point is tried in one of them."""


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mirror")


@pytest.fixture(scope="module")
def forker(mirrored: Path) -> Iterator[Forker]:
    yield from start_forker(MEMORY_MIRROR_DIR=str(mirrored))


@pytest.fixture(autouse=True)
def mirror(mirrored: Path, settings: Any) -> None:
    settings.MIRROR_DIR = mirrored


def live(agent: Agent, scope: str) -> str:
    """Say the canary once, and have it learnt; return the name of what is to be erased."""
    home = uuid.uuid4()
    if scope == "user":
        write_canary(agent, home)
        drain_jobs()
        return USER
    said = whole_talk()
    said[4]["content"] = f"Yes, I moved to the ship {CANARY} in Rotterdam last week."
    posted = agent.post("add_messages", {"conversation_id": str(home), "messages": said})
    assert posted.status_code == 201
    agent.flush(home)
    return str(posted.json()["messages"][4]["message_id"]) if scope == "message" else str(home)


def ask(forker: Forker, agent: Agent, scope: str, name: str, **kill: Any) -> bool:
    """Ask for an erasure in a child, which does it as a web process would; was it killed?"""
    body = {"scope": scope, "id": name, "reason": "a request by the person"}
    call = {"path": "/api/v0/erasures", "secret": agent.secret, "body": body, "key": "unused"}
    return forker.run("post", **kill, **call)


@pytest.mark.parametrize(("point", "scope"), KILLED_IN)
def test_an_erasure_that_was_killed_is_finished_and_counts_each_row_once(
    forker: Forker, mirrored: Path, ana: Agent, cleo: Agent, point: Point, scope: str
) -> None:
    assert cleo.post("notes", {"content": "Cleo likes canals."}).status_code == 201
    name = live(ana, scope)
    others = digest(cleo.tenant)
    foretold = as_json(erase(ana, scope, name, dry_run=True))["counts"]
    assert foretold["pages"] and mentions(mirrored)
    assert ask(forker, ana, scope, name, at=point), "nobody comes past there"
    finish(forker, ana)
    done = Erasure.objects.of(ana.tenant).get()
    assert (done.state, done.counts) == ("done", foretold)
    assert digest(cleo.tenant) == others
    assert not mentions(mirrored)
    assert CANARY.lower() not in dump()


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.name.lower())
def test_the_erasure_of_a_tenant_that_was_killed_is_finished(
    forker: Forker, mirrored: Path, ana: Agent, cleo: Agent, point: Point
) -> None:
    assert cleo.post("notes", {"content": "Cleo likes canals."}).status_code == 201
    for scope in SCOPES:
        live(ana, scope)
    others = digest(cleo.tenant)
    foretold = as_json(erase(ana, "tenant", ana.tenant.name, dry_run=True))["counts"]
    asked = point is Point.ERASURE_ASKED
    killed = ask(forker, ana, "tenant", ana.tenant.name, **({"at": point} if asked else {}))
    if not asked:
        killed = forker.run("drain", at=point)
    assert killed
    finish(forker, ana)
    erasure = Erasure.objects.of(ana.tenant).get()
    assert (erasure.state, erasure.counts) == ("done", foretold)
    assert list(Tenant.objects.values_list("name", flat=True)) == [cleo.tenant.name]
    assert digest(cleo.tenant) == others
    assert not mentions(mirrored)
    assert CANARY.lower() not in dump()
