"""Whatever somebody writes into the queue's tables, a worker runs nothing but our jobs."""

from __future__ import annotations

import datetime
import os
import pickle
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.core import signing
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.conf import Conf
from django_q.models import OrmQ, Schedule, Task
from django_q.signing import SignedPackage

from jobs.enqueue import RUN_JOB, wake
from jobs.models import Job, State
from jobs.wakeups import Refused
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.processes import PATIENCE_S, worker
from tests.talk import whole_talk

Change = Callable[[dict[str, Any]], object]
A_JOB = uuid.UUID("01a203bb-8468-76df-bf99-2e285843df3e")


class Evil:
    """Unpickled, it makes a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch '{self.file}'",)


def wake_up(**changed: Any) -> dict[str, Any]:
    """Return what `wake` writes, changed."""
    task = {
        "id": "1" * 32,
        "name": "one-two-three-four",
        "func": RUN_JOB,
        "args": [str(uuid.uuid4())],
        "kwargs": {},
        "started": str(timezone.now()),
        "ack_failure": True,
    }
    return {**task, **changed}


class Pickled(signing.JSONSerializer):
    def dumps(self, obj: Any) -> bytes:
        return pickle.dumps(obj)


def sign(given: object, *, key: str = Conf.SECRET_KEY, form: Any = signing.JSONSerializer) -> str:
    return signing.dumps(given, key=key, salt=Conf.PREFIX, serializer=form)


def put(payload: str) -> None:
    OrmQ.objects.create(
        key=get_broker().list_key,
        payload=payload,
        lock=timezone.now() - datetime.timedelta(hours=1),
    )


@pytest.mark.django_db
def test_a_real_wake_up_is_read() -> None:
    job_id = uuid.uuid4()
    wake(job_id)
    read = SignedPackage.loads(OrmQ.objects.get().payload)
    assert (read["func"], read["args"]) == (RUN_JOB, [str(job_id)])


def test_a_signed_pickle_that_calls_something_calls_nothing(tmp_path: Path) -> None:
    file = tmp_path / "made"
    for evil in (Evil(file), wake_up(args=(Evil(file),)), wake_up(started=Evil(file))):
        with pytest.raises(Refused):
            SignedPackage.loads(sign(evil, form=Pickled))
    assert not file.exists()
    pickle.loads(pickle.dumps(Evil(file)))
    assert file.exists(), "the payload is an evil one"


@pytest.mark.parametrize(
    "changed",
    [
        {"args": ["touch /tmp/x"]},
        {"args": []},
        {"args": str(A_JOB)},
        {"args": [str(A_JOB), "more"]},
        {"args": [5]},
        {"args": None},
    ],
    ids=str,
)
def test_a_signed_row_without_the_id_of_a_job_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        SignedPackage.loads(sign(wake_up(**changed)))


@pytest.mark.parametrize(
    "changed",
    [
        {"func": "os.system"},
        {"func": "jobs.tasks.judge_failure"},
        {"kwargs": {"job_id": "x"}},
        {"hook": "os.abort"},
        {"chain": [["os.abort", []]]},
        {"save": True},
        {"sync": True},
        {"timeout": 10**6},
        {"name": None},
    ],
    ids=str,
)
def test_of_a_signed_row_only_the_id_of_a_job_is_read(changed: dict[str, Any]) -> None:
    assert SignedPackage.loads(sign(wake_up(args=[str(A_JOB)], **changed))) == {
        "id": str(A_JOB),
        "name": str(A_JOB),
        "func": RUN_JOB,
        "args": [str(A_JOB)],
        "kwargs": {},
        "ack_failure": True,
    }


@pytest.mark.parametrize("read", [[], None, "run", 5, {}], ids=str)
def test_a_signed_row_that_is_no_task_at_all_is_refused(read: object) -> None:
    with pytest.raises(Refused):
        SignedPackage.loads(sign(read))


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "x",
        "a:b:c",
        ":" * 50,
        sign(wake_up(), key="another" * 10),
        sign(wake_up())[:-1],
        signing.TimestampSigner(key=Conf.SECRET_KEY, salt=Conf.PREFIX).sign(".AAAA"),
        signing.TimestampSigner(key=Conf.SECRET_KEY, salt=Conf.PREFIX).sign("é!"),
    ],
    ids=range(8),
)
def test_a_row_that_is_not_ours_or_is_broken_is_refused(payload: str) -> None:
    with pytest.raises(Refused):
        SignedPackage.loads(payload)


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_a_worker_gets_past_everything_evil_and_does_its_work(
    ana: Agent, conversation: uuid.UUID, tmp_path: Path
) -> None:
    """In the queue before our wake-up, with a schedule and a result of the same kind."""
    file = tmp_path / "made"
    command = f"touch '{file}'"
    put(sign(Evil(file), form=Pickled))
    put(sign(wake_up(func="os.system", args=[command])))
    put(sign(Evil(file), key="another" * 10, form=Pickled))
    put("junk")
    put(signing.TimestampSigner(key=Conf.SECRET_KEY, salt=Conf.PREFIX).sign(".AAAA"))
    Schedule.objects.create(func="os.system", args=repr((command,)), next_run=timezone.now())
    body = {"conversation_id": str(conversation), "messages": whole_talk()}
    assert ana.post("add_messages", body).status_code == 201
    job_id = ana.post("flush", {"conversation_id": str(conversation)}).json()["job_id"]
    with worker() as process:
        until = time.monotonic() + PATIENCE_S
        while Job.across_tenants.get(id=job_id).state != State.DONE:
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.2)
        while OrmQ.objects.exists():
            assert time.monotonic() < until, "what is refused is not kept"
            time.sleep(0.2)
    assert not file.exists()
    assert not Task.objects.exists(), "no result is stored"


def test_people_cannot_reach_the_queues_tables() -> None:
    registered = {model._meta.app_label for model in admin.site._registry}
    assert "jobs" in registered and "django_q" not in registered
