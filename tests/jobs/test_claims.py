"""A job is held by one run at a time, and writes its effects once or not at all."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from jobs import claims, tasks
from jobs.claims import Charge, LeaseLost
from jobs.enqueue import enqueue
from jobs.models import Job, Kind, State
from jobs.tasks import run_job
from memoryproject.tenancy.models import Tenant
from tests.conftest import Agent

pytestmark = pytest.mark.django_db


def make_job(agent: Agent, kind: Kind = Kind.CONSOLIDATE) -> Job:
    return enqueue(tenant=agent.tenant, kind=kind, scope=uuid.uuid4())


def end_lease(job: Job) -> None:
    Job.objects.of(job.tenant).filter(id=job.id).update(lease_until=Now() - timedelta(seconds=1))


def reload(job: Job) -> Job:
    return Job.objects.of(job.tenant).get(id=job.id)


def test_a_claimed_job_cannot_be_claimed_again(ana: Agent) -> None:
    job = make_job(ana)
    assert claims.claim(job.id) is not None
    assert claims.claim(job.id) is None


def test_an_attempt_is_counted_before_the_work(ana: Agent) -> None:
    job = make_job(ana)
    claims.claim(job.id)
    assert (reload(job).attempts, reload(job).state) == (1, State.RUNNING)


def test_a_job_whose_lease_ended_is_taken_over_and_its_first_holder_writes_nothing(
    ana: Agent,
) -> None:
    job = make_job(ana)
    first = claims.claim(job.id)
    end_lease(job)
    second = claims.claim(job.id)
    assert first is not None and second is not None
    with pytest.raises(LeaseLost), claims.commit(first):
        Tenant.objects.create(name="written by a zombie")
    assert not Tenant.objects.filter(name="written by a zombie").exists()
    with claims.commit(second):
        Tenant.objects.create(name="written by the holder")
    assert Tenant.objects.filter(name="written by the holder").exists()
    assert reload(job).state == State.DONE


def test_asking_twice_before_it_runs_makes_one_job(ana: Agent) -> None:
    scope = uuid.uuid4()
    first = enqueue(tenant=ana.tenant, kind=Kind.CONSOLIDATE, scope=scope)
    second = enqueue(tenant=ana.tenant, kind=Kind.CONSOLIDATE, scope=scope, input={"force": True})
    assert first.id == second.id
    assert reload(first).input == {"force": True}


def test_asking_while_it_runs_makes_a_second_job_that_waits(ana: Agent) -> None:
    scope = uuid.uuid4()
    first = enqueue(tenant=ana.tenant, kind=Kind.CONSOLIDATE, scope=scope)
    running = claims.claim(first.id)
    second = enqueue(tenant=ana.tenant, kind=Kind.CONSOLIDATE, scope=scope)
    assert second.id != first.id
    assert claims.claim(second.id) is None
    assert running is not None
    with claims.commit(running):
        pass
    assert claims.claim(second.id) is not None


def test_the_database_refuses_two_ready_jobs_of_one_scope(ana: Agent) -> None:
    job = make_job(ana)
    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.create(tenant=ana.tenant, kind=job.kind, scope=job.scope)


def test_a_failure_of_the_outside_world_costs_no_attempt(ana: Agent) -> None:
    job = make_job(ana)
    claim = claims.claim(job.id)
    assert claim is not None
    error, wait = TimeoutError(), timedelta(seconds=60)
    assert claims.release(claim, error=error, after=wait, charge=Charge.FAILURE) is False
    waiting = reload(job)
    assert (waiting.state, waiting.attempts) == (State.READY, 0)
    assert (waiting.transient_failures, waiting.error_class) == (1, "TimeoutError")
    assert claims.claim(job.id) is None, "it waits for its time"


@pytest.mark.parametrize(
    ("kind", "last"),
    [(Kind.REVIEW, claims.MAX_ATTEMPTS), (Kind.CONSOLIDATE, claims.HALVING_ATTEMPTS)],
)
def test_a_job_dies_after_its_last_attempt(ana: Agent, kind: Kind, last: int) -> None:
    job = make_job(ana, kind)
    for attempt in range(1, last + 1):
        claim = claims.claim(job.id)
        assert claim is not None
        died = claims.release(claim, error=ValueError(), after=timedelta(0), charge=Charge.ATTEMPT)
        assert died is (attempt == last)
    assert reload(job).state == State.DEAD


def test_a_failed_job_leaves_the_place_to_one_that_became_ready_meanwhile(ana: Agent) -> None:
    job = make_job(ana)
    claim = claims.claim(job.id)
    twin = enqueue(tenant=ana.tenant, kind=Kind(job.kind), scope=job.scope)
    assert claim is not None
    claims.release(claim, error=ValueError(), after=timedelta(0), charge=Charge.ATTEMPT)
    assert (reload(job).state, reload(twin).state) == (State.RUNNING, State.READY)
    assert claims.claim(twin.id) is None
    assert claims.claim(job.id) is not None, "its lease has ended: anyone may take it"


def test_backoff_stays_below_a_bound_that_doubles() -> None:
    for failures in range(20):
        bound = min(tasks.BACKOFF_LAST, tasks.BACKOFF_FIRST * 2**failures)
        assert timedelta(0) <= tasks.backoff(failures) <= bound


def test_a_job_that_fails_for_a_reason_nobody_foresaw_dies_and_can_be_retried(
    ana: Agent, caplog: pytest.LogCaptureFixture
) -> None:
    job = make_job(ana)  # its scope names no conversation
    for _ in range(claims.HALVING_ATTEMPTS):
        Job.objects.of(ana.tenant).filter(id=job.id).update(run_after=Now())
        assert run_job(str(job.id)) is True
    dead = reload(job)
    assert (dead.state, dead.error_class) == (State.DEAD, "DoesNotExist")
    assert ana.get(f"jobs/{job.id}").json()["error"] == "DoesNotExist"


def test_only_a_dead_job_can_be_retried(ana: Agent, cleo: Agent) -> None:
    job = make_job(ana, Kind.SEGMENT)
    assert ana.post(f"jobs/{job.id}/retry").status_code == 409
    Job.objects.of(ana.tenant).filter(id=job.id).update(state=State.DEAD, attempts=5)
    assert cleo.post(f"jobs/{job.id}/retry").status_code == 404
    answer = ana.post(f"jobs/{job.id}/retry")
    assert (answer.status_code, answer.json()["state"]) == (200, "ready")
    assert answer.json()["attempts"] == 0
