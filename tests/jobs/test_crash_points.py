"""Killed at any point: nothing is lost, and nothing is done twice.

A child is killed the first time that it comes past a point; later times are left to the storm.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.conf import settings
from django.db.models.functions import Now

from episodic.models import Conversation, Message
from indexing.models import SearchVector
from jobs.enqueue import enqueue
from jobs.models import Job, Kind, LLMCall, State
from memoryproject.process.crash_points import Point
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.jobs.oracle import find_violations
from tests.jobs.poison import POISON, poisoned
from tests.llm.answers import (
    change,
    changes,
    ratings,
    segment,
    segments,
    shown_lines,
    shown_memories,
)
from tests.model_server import Asked, ModelServer, Reply, run_model_server, says
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.gate]

OF_POSTING = {Point.MESSAGES_INSERTED, Point.MESSAGES_STORED, Point.JOB_INSERTED}
OF_CALLS = {Point.CALL_OPENED, Point.CALL_ANSWERED, Point.CALL_KEPT}
OF_POISON = {
    Point.MESSAGE_SET_ASIDE, Point.EPISODE_SET_ASIDE, Point.RELEASING, Point.RELEASED,
}  # fmt: skip
OF_VECTORS = {Point.VECTORS_MADE, Point.VECTORS_WRITTEN}
OF_ERASING = {Point.ERASURE_ASKED, Point.PAGES_REMOVED}  # see tests/erasure/test_killed.py
OF_WORK = set(Point) - OF_POSTING - OF_CALLS - OF_POISON - OF_VECTORS - OF_ERASING


@dataclass
class Forker:
    """Children that are killed, or that finish what the killed ones left."""

    process: subprocess.Popen[str]

    def run(self, task: str, *, at: Point | None = None, passage: int = 1, **given: Any) -> bool:
        """Run a task in a child; return whether it was killed."""
        armed = {"point": at.value, "passage": passage} if at else {}
        assert self.process.stdin and self.process.stdout
        print(
            json.dumps({"task": task, "given": given, **armed}), file=self.process.stdin, flush=True
        )
        status = json.loads(self.process.stdout.readline())["status"]
        assert status in {0, 9}
        return bool(status)


def start_forker(**environment: str) -> Iterator[Forker]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.jobs.forker"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "MEMORY_LOG_LEVEL": "WARNING", **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout
        assert "ready" in process.stdout.readline()
        yield Forker(process)
        process.stdin.close()
        assert process.wait(timeout=120) == 0


@pytest.fixture(scope="module")
def forker() -> Iterator[Forker]:
    yield from start_forker()


def finish(forker: Forker, agent: Agent) -> None:
    """Let leases and waits end, and do what is left, as often as it takes."""
    for _ in range(40):
        Job.objects.of(agent.tenant).filter(state=State.RUNNING).update(lease_until=Now())
        Job.objects.of(agent.tenant).filter(state=State.READY).update(run_after=Now())
        open_jobs = Job.objects.of(agent.tenant).filter(state__in=[State.READY, State.RUNNING])
        if not open_jobs.exists():
            return
        assert not forker.run("drain")
    raise AssertionError("it never ends")


@dataclass
class Talk:
    """A conversation that goes on: another round for each crash."""

    agent: Agent
    id: uuid.UUID = field(default_factory=uuid.uuid4)
    said: int = 0

    def go_on(self) -> None:
        """Ask, so that there is something to review; say more, and ask for it to be done."""
        question = {"conversation_id": str(self.id), "query": "What about the boxes and the race?"}
        assert self.agent.post("retrieve_memory", question).status_code == 200
        for said, at in ((MOVING, MORNING), (RUNNING, EVENING)):
            body = {"conversation_id": str(self.id), "messages": messages(said, at)}
            assert self.agent.post("add_messages", body).status_code == 201
            self.said += len(said)
        self.flush()

    def flush(self) -> None:
        body = {"conversation_id": str(self.id)}
        assert self.agent.post("flush", body).status_code == 202

    def check(self) -> None:
        stored = Message.objects.of(self.agent.tenant).filter(conversation__external_id=self.id)
        assert stored.count() == self.said and find_violations() == []


@pytest.mark.parametrize("point", sorted(OF_WORK), ids=lambda point: point.name.lower())
def test_work_survives_being_killed(forker: Forker, ana: Agent, point: Point) -> None:
    talk = Talk(ana)
    talk.go_on()
    assert not forker.run("drain")
    talk.go_on()
    assert forker.run("drain", at=point), "nobody comes past there"
    finish(forker, ana)
    talk.check()


@pytest.mark.parametrize("point", sorted(OF_POSTING), ids=lambda point: point.name.lower())
def test_a_client_that_sends_again_has_stored_it_once(
    forker: Forker, ana: Agent, point: Point
) -> None:
    talk = Talk(ana)
    said = messages(MOVING + RUNNING + MOVING, MORNING)  # a full window, so a job as well
    body = {"conversation_id": str(talk.id), "messages": said}
    request = {"path": "/api/v0/add_messages", "secret": ana.secret, "body": body, "key": "once"}
    assert forker.run("post", at=point, **request)
    assert not forker.run("post", **request)
    talk.said += len(said)
    finish(forker, ana)
    talk.flush()
    finish(forker, ana)
    talk.check()


@pytest.mark.parametrize("point", sorted(OF_VECTORS), ids=lambda point: point.name.lower())
def test_missing_vectors_are_made_once(forker: Forker, ana: Agent, point: Point) -> None:
    talk = Talk(ana)
    for _ in range(5):
        talk.go_on()
    finish(forker, ana)
    conversation = Conversation.objects.of(ana.tenant).get()
    SearchVector.objects.of(ana.tenant).all().delete()
    enqueue(tenant=ana.tenant, kind=Kind.EMBED, scope=conversation.id)
    assert forker.run("drain", at=point)
    finish(forker, ana)
    talk.check()


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(point, marks=[pytest.mark.bench] if place else [])
        for place, point in enumerate(sorted(OF_POISON))
    ],
    ids=lambda point: point.name.lower(),
)
def test_giving_up_survives_being_killed(forker: Forker, ana: Agent, point: Point) -> None:
    table, column = ("indexing_searchunit", "lexical_text")
    said = {"role": "user", "name": "Mira", "content": f"I work as a {POISON} tester in Delft."}
    if point is Point.EPISODE_SET_ASIDE:
        table, column = ("semantic_fact", "lower(fact)")
    talk = Talk(ana)
    talk.go_on()
    body = {"conversation_id": str(talk.id), "message": said}
    with poisoned(table, column):
        assert ana.post("add_message", body).status_code == 201
        talk.said += 1
        talk.flush()
        killed = False
        for _attempt in range(20):
            Job.objects.of(ana.tenant).filter(state=State.RUNNING).update(lease_until=Now())
            Job.objects.of(ana.tenant).filter(state=State.READY).update(run_after=Now())
            killed = killed or forker.run("drain", at=point)
            if killed:
                break
        assert killed
        finish(forker, ana)
    state = ana.get(f"conversations/{talk.id}").json()
    assert state["set_aside"] == 1 and state["messages"] == talk.said
    assert ana.post(f"conversations/{talk.id}/retry").status_code == 202
    finish(forker, ana)
    talk.check()


def divide(asked: Asked) -> Reply:
    last = shown_lines(asked)[-1]
    return says(segments(segment(last // 2), segment(last)))


def conclude(asked: Asked) -> Reply:
    first = shown_lines(asked)[0]
    return says(changes(change("new", f"Mira said number {first}.", messages=[first])))


def rate(asked: Asked) -> Reply:
    return says(ratings(**dict.fromkeys(shown_memories(asked).values(), "good")))


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with run_model_server() as server:
        server.always("segment", divide)
        server.always("consolidate", conclude)
        server.always("review", rate)
        yield server


@pytest.fixture(scope="module")
def thinker(model: ModelServer) -> Iterator[Forker]:
    """A forker whose children ask a language model."""
    yield from start_forker(
        MEMORY_LLM="openai", OPENAI_BASE_URL=model.url, MEMORY_CHAT_MODEL="scripted"
    )


@pytest.mark.parametrize("point", sorted(OF_CALLS), ids=lambda point: point.name.lower())
def test_an_answer_that_was_kept_is_not_paid_twice(
    thinker: Forker, model: ModelServer, ana: Agent, point: Point
) -> None:
    talk, before = Talk(ana), len(model.asked)
    talk.go_on()
    assert thinker.run("drain", at=point)
    finish(thinker, ana)
    talk.check()
    calls = LLMCall.objects.of(ana.tenant)
    assert len(model.asked) - before <= calls.filter(ok=True).count() + 1
    cut_off = calls.filter(finished_at=None).count()
    assert cut_off == (0 if point is Point.CALL_KEPT else 1)
