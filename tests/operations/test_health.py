"""Readiness tells work that stands still from work that waits or gets done."""

from __future__ import annotations

import time
import uuid
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db.models.functions import Now

from jobs import backlog, supervisor
from jobs.backlog import STANDS_STILL_AFTER
from jobs.models import Job, Kind, State, WorkerRestart
from jobs.supervisor import Supervisor, find_reason_to_end
from memoryproject.process.forks import fork, kill
from tests.conftest import Agent
from tests.fresh import ana as ana
from wings.operations import metrics

pytestmark = pytest.mark.django_db

OVER = STANDS_STILL_AFTER + timedelta(seconds=5)


def make_job(agent: Agent, **columns: Any) -> Job:
    held = {"lease_token": uuid.uuid4()} if columns.get("state") == State.RUNNING else {}
    columns = {"kind": Kind.SEGMENT, "scope": uuid.uuid4(), **held, **columns}
    return Job.objects.create(tenant=agent.tenant, **columns)


def soon(seconds: float) -> Any:
    return Now() + timedelta(seconds=seconds)


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
        {"state": State.RUNNING, "lease_until": soon(20), "busy_until": soon(20)},
        {"state": State.DONE, "finished_at": soon(-20)},
        {"started_at": soon(-20), "run_after": soon(-1)},
        {"state": State.DEAD, "finished_at": soon(-20), "error_class": "E"},
    ],
    ids=["one runs", "one was done", "one was given back", "one died of its fault"],
)
def test_a_backlog_that_moves_is_not_stuck_however_old_it_is(
    ana: Agent, moving: dict[str, Any]
) -> None:
    make_job(ana, run_after=Now() - timedelta(hours=5))
    make_job(ana, **moving)
    assert ana.get("health/ready").status_code == 200


@pytest.mark.parametrize("twin", [{"kind": Kind.FLUSH}, {"kind": Kind.SEGMENT}], ids=str)
def test_a_job_that_has_to_wait_for_another_is_not_stuck(ana: Agent, twin: dict[str, Any]) -> None:
    """It may be as old as it likes: nobody could take it, so nobody is at fault."""
    scope = uuid.uuid4()
    make_job(ana, kind=Kind.FLUSH, scope=scope, run_after=Now() - timedelta(hours=5))
    running = {"state": State.RUNNING, "lease_until": soon(20), "busy_until": soon(20)}
    make_job(ana, scope=scope, started_at=soon(-5), run_after=soon(-9), **twin, **running)
    answer = ana.get("health/ready")
    assert answer.status_code == 200
    assert (answer.json()["due_jobs"], answer.json()["oldest_due_s"]) == (0, None)
    assert find_reason_to_end(uuid.uuid4()) == ""


@pytest.mark.parametrize(
    "idle",
    [
        {"lease_until": soon(600), "error_class": "ReceiverAway"},
        {"lease_until": soon(-1), "started_at": soon(-9)},
    ],
    ids=["it failed and keeps its place", "its worker died"],
)
def test_what_nobody_works_on_is_no_progress(ana: Agent, idle: dict[str, Any]) -> None:
    make_job(ana, run_after=Now() - OVER)
    make_job(ana, state=State.RUNNING, busy_until=soon(600), **idle)
    assert ana.get("health/ready").status_code == 503
    assert find_reason_to_end(uuid.uuid4())


def test_workers_that_hang_turn_it_red_and_are_not_ended(ana: Agent) -> None:
    """Beyond the deadline of its call a lease is no progress; its job's time limit ends it."""
    make_job(ana, run_after=Now() - OVER)
    held = make_job(ana, state=State.RUNNING, lease_until=soon(20), busy_until=soon(400))
    assert ana.get("health/ready").status_code == 200
    Job.objects.of(ana.tenant).filter(id=held.id).update(busy_until=soon(-1))
    answer = ana.get("health/ready")
    assert answer.status_code == 503 and "get no further" in answer.json()["message"]
    assert find_reason_to_end(uuid.uuid4()) == ""
    assert not WorkerRestart.objects.exists()


def test_a_restart_is_on_record_and_in_the_metrics(ana: Agent) -> None:
    make_job(ana, run_after=Now() - OVER)
    cluster = uuid.uuid4()
    assert "no worker takes any" in find_reason_to_end(cluster)
    (row,) = backlog.list_restarts()
    assert (row.cluster, "no worker takes any" in row.reason) == (cluster, True)
    metrics.collector.forget()
    assert "memory_worker_restarts 1.0" in ana.client.get("/metrics").content.decode()


@pytest.mark.django_db(transaction=True)
def test_workers_are_ended_once_in_a_quarter_of_an_hour_at_most(
    ana: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "SETTLED_AFTER_S", 0.0)
    monkeypatch.setattr(supervisor, "LOOK_AT_WORK_EVERY_S", 0.0)
    make_job(ana, run_after=Now() - OVER)
    looks = iter(range(20))
    watching = Supervisor(is_over=lambda: next(looks, None) is None)
    process = fork(partial(time.sleep, 600))
    try:
        for _ in range(2):
            watching._watch(process, uuid.uuid4())
    finally:
        kill(process)
    assert WorkerRestart.objects.count() == 1
    assert next(looks, None) is None, "it went on watching until it was told to stop"
