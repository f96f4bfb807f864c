"""Clocks that disagree, and a worker that sleeps past its lease: no effect comes twice."""

from __future__ import annotations

import os
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.models import OrmQ

from bench.storm.processes import find_children, look_up
from episodic.models import Episode, Message
from episodic.queries import database_now
from jobs import claims
from jobs.draining import drain_jobs
from jobs.enqueue import enqueue
from jobs.models import Job, Kind, State
from jobs.reconciler import reconcile
from memoryproject.ai import breaker
from memoryproject.ai.breaker import FAILURES, PAUSE_FIRST
from memoryproject.ai.models import Breaker
from semantic.models import Changeset
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.llm.answers import changes, segment, segments
from tests.llm.conftest import flush_job, post
from tests.llm.test_breaker import fail, is_asked, named
from tests.model_server import Asked, ModelServer, Reply, run_model_server, says
from tests.reliability.product import PATIENCE_S, workers
from tests.talk import MORNING, MOVING, messages, whole_talk

MOMENT = timedelta(seconds=15)
SKEWS = [timedelta(minutes=10), -timedelta(minutes=10)]


@contextmanager
def clock_is_off(by: timedelta, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process believe that it is earlier or later."""
    right, seconds = timezone.now, time.time
    with monkeypatch.context() as patch:
        patch.setattr(timezone, "now", lambda: right() + by)
        patch.setattr(time, "time", lambda: seconds() + by.total_seconds())
        yield


@pytest.mark.django_db
@pytest.mark.parametrize("skew", SKEWS, ids=["ahead", "behind"])
def test_a_lease_lasts_by_the_databases_clock(
    ana: Agent, monkeypatch: pytest.MonkeyPatch, skew: timedelta
) -> None:
    job = enqueue(tenant=ana.tenant, kind=Kind.SEGMENT, scope=uuid.uuid4())
    with clock_is_off(skew, monkeypatch):
        held = claims.claim(job.id)
        assert held is not None
        assert claims.claim(job.id) is None, "nobody takes it from its holder"
        assert claims.renew(held)
    assert claims.claim(job.id) is None
    job.refresh_from_db()
    assert job.lease_until is not None and job.started_at is not None
    assert abs(job.lease_until - database_now() - claims.LEASE) < MOMENT
    assert abs(database_now() - job.started_at) < MOMENT


@pytest.mark.django_db
@pytest.mark.parametrize("skew", SKEWS, ids=["ahead", "behind"])
def test_a_pause_lasts_by_the_databases_clock(
    monkeypatch: pytest.MonkeyPatch, skew: timedelta
) -> None:
    with clock_is_off(skew, monkeypatch):
        fail("a", times=FAILURES)
        assert not is_asked("a")
    assert not is_asked("a") and not breaker.is_closed(named("a"))
    until = Breaker.objects.get().open_until
    assert until is not None and abs(until - database_now() - PAUSE_FIRST) < MOMENT


@pytest.mark.django_db
@pytest.mark.parametrize("skew", SKEWS, ids=["ahead", "behind"])
def test_work_is_done_once_by_clocks_that_disagree(
    ana: Agent, conversation: uuid.UUID, monkeypatch: pytest.MonkeyPatch, skew: timedelta
) -> None:
    """One takes the messages, another looks what is due, and a third works."""
    with clock_is_off(-skew, monkeypatch):
        post(ana, conversation, whole_talk())
        ana.post("flush", {"conversation_id": str(conversation)})
    with clock_is_off(skew, monkeypatch):
        reconcile()
        drained = drain_jobs()
    assert (drained.later, drained.dead) == (0, 0)
    assert drain_jobs().ran == 0, "nothing is left for a clock that is right"
    assert not Message.objects.of(ana.tenant).filter(episode=None).exists()
    assert not Episode.objects.of(ana.tenant).filter(consolidated_at=None).exists()
    jobs = Job.objects.of(ana.tenant)
    assert set(jobs.values_list("state", "attempts")) == {(State.DONE, 1)}
    received = Message.objects.of(ana.tenant).values_list("received_at", flat=True)
    assert max(database_now() - at for at in received) < MOMENT


@pytest.mark.django_db
@pytest.mark.parametrize("skew", SKEWS, ids=["ahead", "behind"])
def test_a_worker_whose_clock_is_off_is_woken(
    ana: Agent, monkeypatch: pytest.MonkeyPatch, skew: timedelta
) -> None:
    """The queue compares a wake-up's time with the worker's clock: one from the future waits.

    Without a look by its own clock, a worker that is ten minutes late would begin each
    piece of work ten minutes after it came.
    """
    enqueue(tenant=ana.tenant, kind=Kind.SEGMENT, scope=uuid.uuid4())
    with clock_is_off(skew, monkeypatch):
        reconcile()
        taken = get_broker().dequeue()
    assert taken, "the worker finds a wake-up"
    assert OrmQ.objects.count() <= 2


def stop_all(pid: int) -> list[int]:
    """Stop a process and all below it, from the top; return them."""
    stopped: list[int] = []
    waiting = [pid]
    while waiting:
        process = look_up(waiting.pop(0))
        if process is not None:
            os.kill(process.pid, signal.SIGSTOP)
            stopped.append(process.pid)
            waiting += [child.pid for child in find_children(process)]
    return stopped


def wake_all(pids: list[int]) -> None:
    for pid in reversed(pids):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


class Slow:
    """A model that answers the first question when it is told to, and others at once."""

    def __init__(self) -> None:
        self.asked, self.may_answer = threading.Event(), threading.Event()

    def __call__(self, asked: Asked) -> Reply:
        if not self.asked.is_set():
            self.asked.set()
            assert self.may_answer.wait(PATIENCE_S)
            return says(segments(segment(7, "Written by the one that slept")))
        return says(segments(segment(7, "Written by the one that was awake")))


def wait_for_job(job: Job, state: State) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        job.refresh_from_db()
        if job.state == state:
            return
        time.sleep(0.2)
    raise AssertionError(f"the job is {job.state}")


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with run_model_server() as server:
        yield server


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_a_worker_that_slept_past_its_lease_writes_nothing(
    ana: Agent, conversation: uuid.UUID, model: ModelServer
) -> None:
    """It is stopped while it waits for an answer, which it then gets; its lease has ended."""
    slow = Slow()
    model.always("segment", slow)
    model.always("consolidate", says(changes()))
    post(ana, conversation, messages(MOVING, MORNING))
    ana.post("flush", {"conversation_id": str(conversation)})
    job = flush_job(ana)
    thinking = {
        **os.environ, "MEMORY_LLM": "openai", "OPENAI_BASE_URL": model.url,
        "OPENAI_API_KEY": "key", "MEMORY_CHAT_MODEL": "scripted",
        "MEMORY_MODEL_TIMEOUT_S": "120",
    }  # fmt: skip
    with workers(thinking) as sleeper:
        assert slow.asked.wait(PATIENCE_S)
        asleep = stop_all(sleeper.pid)
        try:
            slow.may_answer.set()
            ended = Job.objects.of(ana.tenant).filter(state=State.RUNNING)
            assert ended.update(lease_until=Now()) == 1
            with workers(thinking):
                wait_for_job(job, State.DONE)
                first = list(Episode.objects.of(ana.tenant).values_list("title", flat=True))
                wake_all(asleep)
                time.sleep(5)
        finally:
            wake_all(asleep)
        time.sleep(1)
    assert first == ["Written by the one that was awake"]
    assert list(Episode.objects.of(ana.tenant).values_list("title", flat=True)) == first
    assert Changeset.objects.of(ana.tenant).count() == 1
    job.refresh_from_db()
    assert (job.state, Job.objects.of(ana.tenant).filter(state=State.DONE).count()) == ("done", 1)
    assert not Job.objects.of(ana.tenant).filter(lease_until__gt=Now()).exists()
