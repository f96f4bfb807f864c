"""Tenants take turns; what somebody waits for comes first; a claim is cheap however much waits."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.db.models.functions import Now
from django_q.models import OrmQ
from pytest_django import Settings

from jobs import claims, tasks, turns
from jobs.claims import Claim
from jobs.enqueue import enqueue
from jobs.models import Job, Kind, State
from jobs.tasks import run_next
from tests.api.threads import run_in_threads
from tests.conftest import Agent, make_agent
from tests.fresh import ana as ana
from tests.fresh import bo as bo
from tests.fresh import cleo as cleo
from tests.talk import MORNING, messages

pytestmark = pytest.mark.django_db
MANY = 10_000
ROWS_AT_MOST = 60
SAID = [("Mira", "I live in Oslo.")]


def make_job(agent: Agent, kind: Kind = Kind.SEGMENT, scope: uuid.UUID | None = None) -> Job:
    return enqueue(tenant=agent.tenant, kind=kind, scope=scope or uuid.uuid4())


def make_many(agent: Agent, kind: Kind, count: int) -> None:
    rows = [Job(tenant=agent.tenant, kind=kind, scope=uuid.uuid4()) for _ in range(count)]
    Job.objects.bulk_create(rows)
    Job.objects.of(agent.tenant).update(run_after=Now() - timedelta(minutes=1))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE jobs_job")


def claim_next(*, in_order: bool = False, holder: uuid.UUID | None = None) -> Claim:
    claim = claims.claim_next(in_order=in_order, holder=holder)
    assert claim is not None
    return claim


def finish(claim: Claim) -> None:
    with claims.commit(claim):
        pass


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("kind", [Kind.FLUSH, Kind.SEGMENT])
def test_behind_all_jobs_of_another_a_flush_waits_for_those_that_run(
    ana: Agent, cleo: Agent, kind: Kind, in_order: bool
) -> None:
    make_many(ana, kind, 20)
    running = [claim_next(), claim_next()]
    job = make_job(cleo, Kind.FLUSH)
    finish(running[0])
    assert claim_next(in_order=in_order).id == job.id


def test_tenants_take_turns(ana: Agent, cleo: Agent) -> None:
    make_many(ana, Kind.SEGMENT, 5)
    make_many(cleo, Kind.SEGMENT, 5)
    served = [claim_next().tenant.id for _ in range(10)]
    assert served == served[:2] * 5 and served[0] != served[1]


def test_what_somebody_waits_for_comes_first_and_the_rest_in_its_order(ana: Agent) -> None:
    early, flush = make_job(ana), make_job(ana, Kind.FLUSH)
    Job.objects.of(ana.tenant).filter(id=early.id).update(run_after=Now() - timedelta(hours=1))
    make_job(ana)
    assert claim_next().id == flush.id
    assert claim_next().id == early.id


def test_now_and_then_all_is_done_in_its_order(ana: Agent) -> None:
    early = make_job(ana)
    Job.objects.of(ana.tenant).filter(id=early.id).update(run_after=Now() - timedelta(hours=1))
    make_job(ana, Kind.FLUSH)
    assert claim_next(in_order=True).id == early.id


def test_a_job_of_a_conversation_that_another_works_on_is_passed_over(ana: Agent) -> None:
    scope = uuid.uuid4()
    make_job(ana, Kind.FLUSH, scope)
    claim_next()
    make_job(ana, Kind.SEGMENT, scope)
    make_job(ana, Kind.FLUSH, scope)
    free = make_job(ana, Kind.SEGMENT)
    assert claim_next().id == free.id
    assert claims.claim_next() is None


def queue_flushes_of_mira(agent: Agent) -> list[Job]:
    """Queue a flush of two conversations of one user, and return the jobs."""
    for talk in (uuid.uuid4(), uuid.uuid4()):
        where = {"conversation_id": str(talk)}
        said = where | {"user_id": "mira", "messages": messages(SAID, MORNING)}
        assert agent.post("add_messages", said).status_code == 201
        assert agent.post("flush", where).status_code == 202
    return list(Job.objects.of(agent.tenant).filter(kind=Kind.FLUSH).order_by("id"))


def test_of_one_user_facts_are_drawn_in_one_conversation_after_the_other(ana: Agent) -> None:
    first, second = queue_flushes_of_mira(ana)
    other = make_job(ana, Kind.FLUSH)
    claim = claim_next()
    assert (claim.id, claim_next().id) == (first.id, other.id)
    assert claims.claim_next() is None and claims.claim(second.id) is None
    finish(claim)
    assert claim_next().id == second.id


def test_of_one_user_nothing_waits_for_a_worker_that_died_or_a_job_that_failed(ana: Agent) -> None:
    first, second = queue_flushes_of_mira(ana)
    claim = claim_next()
    claims.release(
        claim, error=ValueError(), after=timedelta(hours=1), charge=claims.Charge.ATTEMPT
    )
    assert claim_next().id == second.id
    Job.objects.of(ana.tenant).filter(id=first.id).update(run_after=Now())
    assert claims.claim(first.id) is None
    Job.objects.of(ana.tenant).filter(id=second.id).update(lease_until=Now())
    assert claim_next().id == first.id


@pytest.mark.django_db(transaction=True)
def test_of_one_user_two_workers_at_the_same_moment_take_one_job(ana: Agent) -> None:
    jobs = queue_flushes_of_mira(ana)
    taken = run_in_threads(lambda index: claims.claim(jobs[index].id), threads=2)
    assert len([claim for claim in taken if claim]) == 1


def test_a_job_whose_worker_died_has_its_turn_when_its_lease_ends(ana: Agent) -> None:
    job = make_job(ana)
    claim_next()
    assert claims.claim_next() is None
    Job.objects.of(ana.tenant).update(lease_until=Now() - timedelta(seconds=1))
    again = claim_next()
    assert (again.id, again.attempts) == (job.id, 2)


@pytest.mark.parametrize("by_id", [False, True])
@pytest.mark.django_db(transaction=True)
def test_a_flush_and_another_job_of_its_conversation_whose_workers_died_both_go_on(
    ana: Agent, by_id: bool
) -> None:
    flush = make_job(ana, Kind.FLUSH)
    other = make_job(ana, Kind.SEGMENT, flush.scope)
    with transaction.atomic():  # both are claimed before either claim can be seen
        first = claims.claim_next()
        (second,) = run_in_threads(lambda _: claims.claim_next(), threads=1)
    assert first and second and (first.id, second.id) == (flush.id, other.id)
    assert claims.claim_next() is None
    Job.objects.of(ana.tenant).update(lease_until=Now())
    again = claims.claim(other.id) if by_id else claims.claim_next()
    assert again and again.attempts == 2
    assert claims.claim_next() is None, "a model is not asked about the same twice at once"
    finish(again)
    assert {again.id, claim_next().id} == {flush.id, other.id}


def test_what_is_put_off_has_no_turn(ana: Agent, cleo: Agent) -> None:
    make_many(ana, Kind.SEGMENT, 20)
    Job.objects.of(ana.tenant).update(run_after=Now() + timedelta(hours=1))
    job = make_job(cleo)
    assert claim_next().id == job.id
    assert claims.claim_next() is None


def test_a_tenant_runs_no_more_jobs_than_it_may(
    ana: Agent, cleo: Agent, settings: Settings
) -> None:
    settings.TENANT_JOBS = 2
    make_many(ana, Kind.SEGMENT, 5)
    running = [claim_next(), claim_next()]
    assert claims.claim_next() is None
    job = make_job(cleo)
    assert claim_next().id == job.id
    finish(running[0])
    assert claim_next().tenant.id == ana.tenant.id


@pytest.fixture
def cluster() -> uuid.UUID:
    """Return a cluster whose workers claim, three of them where two are set."""
    assert settings.WORKERS == 2 and settings.Q_CLUSTER["workers"] == 3
    return uuid.uuid4()


@pytest.mark.parametrize("kind", [Kind.FLUSH, Kind.DELIVER, Kind.ERASE])
def test_a_tenant_leaves_one_worker_to_others_and_has_all_the_rest(
    ana: Agent, cleo: Agent, kind: Kind, cluster: uuid.UUID
) -> None:
    make_many(ana, kind, 5)
    running = [claim_next(holder=cluster), claim_next(holder=cluster)]
    assert claims.claim_next(holder=cluster) is None
    flush = make_job(cleo, Kind.FLUSH)
    other = claim_next(holder=cluster)
    assert other.id == flush.id
    finish(other)
    finish(running[0])
    assert claim_next(holder=cluster).tenant.id == ana.tenant.id


def test_background_work_of_many_leaves_one_worker_to_what_somebody_waits_for(
    ana: Agent, cleo: Agent, cluster: uuid.UUID
) -> None:
    make_many(ana, Kind.DELIVER, 5)
    make_many(cleo, Kind.SEGMENT, 5)
    assert {claim_next(holder=cluster).kind, claim_next(holder=cluster).kind} == {
        Kind.DELIVER,
        Kind.SEGMENT,
    }
    for in_order in (False, True):
        assert claims.claim_next(in_order=in_order, holder=cluster) is None
    flush = make_job(ana, Kind.FLUSH)
    assert claim_next(in_order=True, holder=cluster).id == flush.id


def test_the_last_worker_that_is_free_takes_what_somebody_waits_for_alone(
    ana: Agent, cleo: Agent, cluster: uuid.UUID
) -> None:
    make_many(ana, Kind.FLUSH, 2)
    make_job(cleo)
    assert [claim_next(holder=cluster).kind, claim_next(holder=cluster).kind] == [Kind.FLUSH] * 2
    for in_order in (False, True):
        assert claims.claim_next(in_order=in_order, holder=cluster) is None
    flush = make_job(cleo, Kind.FLUSH)
    assert claim_next(holder=cluster).id == flush.id


def test_a_kind_that_holds_all_workers_but_one_gives_way_to_another(
    ana: Agent, bo: Agent, cleo: Agent, cluster: uuid.UUID
) -> None:
    flushes = [make_job(ana, Kind.FLUSH), make_job(cleo, Kind.FLUSH)]
    assert {claim_next(holder=cluster).id, claim_next(holder=cluster).id} == {
        job.id for job in flushes
    }
    dora = make_agent("dora's", "dora")
    flush, erasure = make_job(dora, Kind.FLUSH), make_job(cleo, Kind.ERASE)
    Job.objects.of(cleo.tenant).filter(id=erasure.id).update(run_after=Now())
    third = claim_next(holder=cluster)
    assert third.id == erasure.id, "it came later, and in the tenants' turn second"
    finish(third)
    assert claim_next(holder=cluster).id == flush.id, (
        "where nothing else waits, the kind has them all"
    )


def test_what_another_cluster_holds_is_none_of_this_ones_business(
    ana: Agent, cluster: uuid.UUID
) -> None:
    make_many(ana, Kind.SEGMENT, 5)
    assert [claim_next(holder=cluster), claim_next(holder=cluster)] and claims.claim_next(
        holder=cluster
    ) is None
    other = uuid.uuid4()
    assert [claim_next(holder=other), claim_next(holder=other)]
    assert claims.claim_next(holder=other) is None


@pytest.mark.django_db(transaction=True)
def test_workers_that_claim_at_the_same_moment_see_each_other(
    ana: Agent, cluster: uuid.UUID
) -> None:
    make_many(ana, Kind.SEGMENT, 20)

    def claim_as_the_cluster(number: int) -> Claim | None:
        return claims.claim_next(holder=cluster)

    results = run_in_threads(claim_as_the_cluster, threads=8)
    assert sum(claim is not None for claim in results) == 2


def test_a_wake_up_goes_on_while_there_is_work(ana: Agent) -> None:
    """Wake-ups of what was not for a worker in reserve to take are used up."""
    jobs = [make_job(ana, Kind.DELIVER) for _ in range(3)]
    assert run_next(str(jobs[0].id))
    assert {job.state for job in Job.objects.of(ana.tenant)} == {State.DONE}


def test_a_wake_up_that_has_gone_on_for_long_passes_the_rest_on(
    ana: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [make_job(ana, Kind.DELIVER) for _ in range(3)]
    OrmQ.objects.all().delete()
    monkeypatch.setattr(tasks, "GOES_ON_S", 0.0)
    assert run_next(str(jobs[0].id))
    assert Job.objects.of(ana.tenant).filter(state=State.READY).count() == 2
    assert OrmQ.objects.count() == 1


def test_a_wake_up_runs_whatever_has_its_turn(ana: Agent) -> None:
    job = make_job(ana, Kind.EMBED, ana.tenant.id)
    assert run_next(str(uuid.uuid4()))
    job.refresh_from_db()
    assert job.state == State.DONE
    assert not run_next(str(job.id))


def test_behind_ten_thousand_jobs_a_claim_reads_a_handful_of_rows(ana: Agent, cleo: Agent) -> None:
    make_many(ana, Kind.FLUSH, MANY)
    running = [claim_next(), claim_next()]
    job = make_job(cleo, Kind.FLUSH)
    for only in (turns.THAT_ARE_INTERACTIVE, ""):
        plan = explain_claim(only)
        assert "Seq Scan" not in json.dumps(plan)
        assert sum(map(count_rows_read, list_nodes(plan))) < ROWS_AT_MOST
    finish(running[0])
    assert claim_next().id == job.id


def list_nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from list_nodes(inner)


def count_rows_read(node: dict[str, Any]) -> float:
    """Return how many rows a step of a plan passed on or threw away."""
    thrown_away = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Join Filter", 0)
    return float((node["Actual Rows"] + thrown_away) * node["Actual Loops"])


def explain_claim(only: str) -> dict[str, Any]:
    statement = turns.read_statement(only)
    params = {"cap": settings.TENANT_JOBS, "full_tenants": []}
    with connection.cursor() as cursor:
        # Tables of tests have no statistics, from which the planner would learn as much.
        cursor.execute("SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off")
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", params)
        plan: dict[str, Any] = cursor.fetchone()[0][0]["Plan"]
    return plan
