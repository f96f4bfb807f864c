"""The real worker: processes, a queue in the database, signals."""

from __future__ import annotations

import signal
import time
import uuid

import pytest
from django.db import transaction
from django_q.models import OrmQ

from jobs import tasks
from jobs.enqueue import RUN_JOB, enqueue
from jobs.flows import get_flow, register
from jobs.models import Job, Kind, State
from tests.conftest import Agent
from tests.processes import PATIENCE_S, worker
from tests.talk import whole_talk


def wait_until_done(job_id: uuid.UUID) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if Job.across_tenants.get(id=job_id).state == State.DONE:
            return
        time.sleep(0.2)
    raise AssertionError("the worker did not finish the job")


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_a_worker_turns_messages_into_memory_and_ends_when_told(
    ana: Agent, conversation: uuid.UUID
) -> None:
    body = {"conversation_id": str(conversation), "messages": whole_talk()}
    ana.post("add_messages", body)
    job_id = uuid.UUID(ana.post("flush", {"conversation_id": str(conversation)}).json()["job_id"])
    with worker() as process:
        wait_until_done(job_id)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE_S) == 0
    answer = ana.post(
        "retrieve_memory/raw", {"conversation_id": str(conversation), "query": "Rotterdam"}
    )
    assert answer.json()["semantic"] and answer.json()["episodic"]


def test_the_name_that_a_wake_up_carries_is_that_of_the_task() -> None:
    module, _, name = RUN_JOB.rpartition(".")
    assert module == tasks.__name__
    assert getattr(tasks, name) is tasks.run_next


@pytest.mark.parametrize("kind", Kind)
def test_an_app_has_registered_how_jobs_of_a_kind_run(kind: Kind) -> None:
    assert callable(get_flow(kind).run)
    with pytest.raises(ValueError, match="already"):
        register(kind, get_flow(kind))


@pytest.mark.django_db(transaction=True)
def test_a_rolled_back_transaction_leaves_neither_job_nor_wake_up(ana: Agent) -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        enqueue(tenant=ana.tenant, kind=Kind.SEGMENT, scope=uuid.uuid4())
        raise ZeroDivisionError
    assert not Job.objects.of(ana.tenant).exists()
    assert not OrmQ.objects.exists()
