"""The real worker: processes, a queue in the database, signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.db import connection, transaction
from django_q.models import OrmQ
from pytest_django import Settings

from episodic.models import Message
from jobs import claims, liveness, tasks
from jobs.cluster import NICENESS
from jobs.enqueue import RUN_JOB, enqueue
from jobs.flows import get_flow
from jobs.models import Job, Kind, State
from jobs.supervisor import let_go_of_dead
from memoryproject.wings import list_wings
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.jobs.oracle import find_violations
from tests.processes import PATIENCE_S, worker
from tests.reliability.product import workers
from tests.talk import whole_talk


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 2 * PATIENCE_S
    while not holds():
        assert time.monotonic() < until, "it never comes about"
        time.sleep(0.05)


def find_children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def yields(pid: int) -> bool:
    """Whether a process yields to this one; where Linux compares sessions, its session, too."""
    session = Path(f"/proc/{pid}/autogroup")
    assert not session.exists() or session.read_text().split()[-1] == str(NICENESS)
    return os.getpriority(os.PRIO_PROCESS, pid) == os.getpriority(os.PRIO_PROCESS, 0) + NICENESS


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_a_worker_turns_messages_into_memory_and_ends_when_told(
    ana: Agent, conversation: uuid.UUID
) -> None:
    body = {"conversation_id": str(conversation), "messages": whole_talk()}
    ana.post("add_messages", body)
    job_id = uuid.UUID(ana.post("flush", {"conversation_id": str(conversation)}).json()["job_id"])
    with worker() as process:
        wait_until(lambda: Job.across_tenants.get(id=job_id).state == State.DONE)
        (sentinel,) = find_children(process.pid)
        assert yields(sentinel)
        # MEMORY_WORKERS and one in reserve; the queue's two helpers are threads.
        assert len(find_children(sentinel)) == 2
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE_S) == 0
    answer = ana.post(
        "retrieve_memory/raw", {"conversation_id": str(conversation), "query": "Rotterdam"}
    )
    assert answer.json()["semantic"] and answer.json()["episodic"]


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_a_supervisor_that_fails_ends_with_its_workers() -> None:
    """It must be missed by whoever started it; and who waits for its output waits for all."""
    code = (
        "from jobs import supervisor as s; s.Supervisor(is_over=iter([False] * 8).__next__).run()"
    )
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "shell", "--command", code]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 1 and b"StopIteration" in done.stderr


@contextmanager
def machine(data_dir: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run workers as on a machine of their own, which has the database's address and secrets."""
    data_dir.mkdir()
    server = settings.DATABASES["owner"]
    names = {"host": "HOST", "port": "PORT", "user": "USER", "dbname": "NAME"}
    address = urlencode({libpq: server[name] for libpq, name in names.items()})
    environment = {
        **os.environ,
        "DATABASE_URL": f"postgresql://?{address}",
        "MEMORY_DATA_DIR": str(data_dir),
        "MEMORY_SECRET_KEY": settings.SECRET_KEY,
        "MEMORY_KEY_PEPPER": settings.KEY_PEPPER,
    }
    with workers(environment) as process:
        yield process


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_machines_share_the_work_and_take_over_what_one_that_is_lost_has_left(
    ana: Agent, tmp_path: Path
) -> None:
    """Both have work in hand while nothing is written: a lock keeps them from it."""
    talks = [uuid.uuid4() for _ in range(6)]
    for talk in talks:
        ana.post("add_messages", {"conversation_id": str(talk), "messages": whole_talk()})
        assert ana.post("flush", {"conversation_id": str(talk)}).status_code == 202
    held = Job.objects.of(ana.tenant).filter(state=State.RUNNING)
    with machine(tmp_path / "one") as lost, machine(tmp_path / "two") as other:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE episodic_episode IN EXCLUSIVE MODE")
            wait_until(lambda: held.values("holder").distinct().count() == 2)
            lost.kill()  # its workers die with it, and nobody there can give their leases up
            left = held.count()
        wait_until(lambda: not Job.objects.of(ana.tenant).exclude(state=State.DONE).exists())
        assert other.poll() is None
    assert left == 2 and find_violations() == []
    assert Message.objects.of(ana.tenant).filter(episode=None).count() == 0


@pytest.mark.django_db
def test_what_a_killed_supervisor_leaves_is_free_as_soon_as_all_its_workers_are_dead(
    ana: Agent, tmp_path: Path, settings: Settings
) -> None:
    settings.DATA_DIR = tmp_path
    read, write = os.pipe()
    cluster, supervisor = uuid.uuid4(), os.fork()
    if not supervisor:
        with liveness.marking(cluster):
            worker = os.fork()
            if worker:
                os.write(write, str(worker).encode())
            time.sleep(600)
    worker = int(os.read(read, 20))
    job = enqueue(tenant=ana.tenant, kind=Kind.SEGMENT, scope=uuid.uuid4())
    assert claims.claim(job.id)
    Job.objects.of(ana.tenant).update(holder=cluster)
    try:
        assert (liveness.list_dead(), let_go_of_dead()) == ([], 0)
        os.kill(supervisor, signal.SIGKILL)
        os.waitpid(supervisor, 0)
        assert liveness.list_dead() == [], "a worker lives"
    finally:
        os.kill(worker, signal.SIGKILL)
    wait_until(lambda: liveness.list_dead() == [cluster])
    assert claims.claim(job.id) is None
    assert let_go_of_dead() == 1 and liveness.list_dead() == []
    assert claims.claim(job.id)


def test_the_name_that_a_wake_up_carries_is_that_of_the_task() -> None:
    module, _, name = RUN_JOB.rpartition(".")
    assert module == tasks.__name__
    assert getattr(tasks, name) is tasks.run_next


@pytest.mark.parametrize("kind", Kind)
def test_one_wing_declares_how_jobs_of_a_kind_run(kind: Kind) -> None:
    assert callable(get_flow(kind).run)
    assert sum(kind in wing.flows for wing in list_wings()) == 1


@pytest.mark.django_db(transaction=True)
def test_a_rolled_back_transaction_leaves_neither_job_nor_wake_up(ana: Agent) -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        enqueue(tenant=ana.tenant, kind=Kind.SEGMENT, scope=uuid.uuid4())
        raise ZeroDivisionError
    assert not Job.objects.of(ana.tenant).exists()
    assert not OrmQ.objects.exists()
