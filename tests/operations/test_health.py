"""Readiness tells work that stands still from work that waits or gets done."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from jobs.backlog import LEFT_ALONE_AFTER, STANDS_STILL_AFTER
from jobs.models import Job, Kind, State
from tests.conftest import Agent

pytestmark = pytest.mark.django_db

OVER = STANDS_STILL_AFTER + timedelta(seconds=5)


def make_job(agent: Agent, **columns: Any) -> Job:
    held = {"lease_token": uuid.uuid4()} if columns.get("state") == State.RUNNING else {}
    return Job.objects.create(
        tenant=agent.tenant, kind=Kind.SEGMENT, scope=uuid.uuid4(), **held, **columns
    )


def test_all_is_well_without_work_and_without_a_worker(ana: Agent) -> None:
    answer = ana.get("health/ready")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "due_jobs": 0,
        "dead_jobs": 0,
        "oldest_due_s": None,
        "last_done_s": None,
        "models_away": [],
    }


def test_it_tells_how_long_work_has_waited_and_when_any_was_last_done(ana: Agent) -> None:
    make_job(ana, run_after=Now() - timedelta(seconds=30))
    make_job(ana, run_after=Now() - timedelta(seconds=20))
    make_job(ana, state=State.DONE, finished_at=Now() - timedelta(seconds=40))
    make_job(ana, state=State.DONE, finished_at=Now() - timedelta(hours=1))
    told = ana.get("health/ready").json()
    assert 30 <= told["oldest_due_s"] < 600 and 40 <= told["last_done_s"] < 600


@pytest.mark.parametrize(
    "stuck",
    [
        {"run_after": Now() - OVER},
        {"state": State.RUNNING, "lease_until": Now() - OVER},
    ],
    ids=["due", "held by a dead worker"],
)
def test_work_that_nobody_takes_turns_it_red(ana: Agent, stuck: dict[str, Any]) -> None:
    make_job(ana, **stuck)
    answer = ana.get("health/ready")
    assert answer.status_code == 503 and "Retry-After" in answer
    assert "no worker takes any" in answer.json()["message"]
    assert ana.get("health/live").status_code == 200


def test_work_that_waits_for_its_time_or_just_came_is_not_stuck(ana: Agent) -> None:
    make_job(ana, run_after=Now() + timedelta(hours=5))
    make_job(ana)
    make_job(ana, state=State.DEAD)
    answer = ana.get("health/ready")
    assert answer.status_code == 200
    assert (answer.json()["due_jobs"], answer.json()["dead_jobs"]) == (1, 1)


@pytest.mark.parametrize(
    "moving",
    [
        {"state": State.RUNNING, "lease_until": Now() + timedelta(seconds=20)},
        {"state": State.DONE, "finished_at": Now() - timedelta(seconds=20)},
    ],
    ids=["one runs", "one was finished"],
)
def test_a_backlog_that_moves_is_not_stuck_until_something_is_passed_over(
    ana: Agent, moving: dict[str, Any]
) -> None:
    long_ago = Now() - LEFT_ALONE_AFTER - OVER
    make_job(ana, run_after=long_ago)
    other = make_job(ana, started_at=Now() - OVER, run_after=long_ago, **moving)
    assert ana.get("health/ready").status_code == 200
    Job.objects.of(ana.tenant).filter(id=other.id).update(run_after=Now() - timedelta(seconds=1))
    answer = ana.get("health/ready")
    assert answer.status_code == 503 and "nobody takes it" in answer.json()["message"]
