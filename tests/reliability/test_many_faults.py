"""Hundreds of calls to a model of which every fifth goes wrong, in an order that is fixed."""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pydantic
import pytest
from django.db.models.functions import Now

from episodic.models import Episode, Message
from jobs import claims
from jobs.calls import Asker, ask_mended
from jobs.draining import drain_jobs
from jobs.enqueue import enqueue
from jobs.models import Job, Kind, LLMCall, State
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.ai.models import Breaker
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.jobs.oracle import find_violations
from tests.jobs.test_crash_points import conclude, divide, rate
from tests.llm.conftest import model, post
from tests.model_server import Asked, ModelServer, Reply, Step, fails, says, sends
from tests.reliability.conftest import SayFigures
from tests.talk import whole_talk

__all__ = ["model"]  # a fixture
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.bench]

CALLS = 400
FAULTS = 0.2
TALKS = 10
EXTRA_AT_MOST = 0.25
AWAY = [fails(500), fails(503), fails(429), fails(401), Reply(drop=True), Reply(body=b"<html>")]
"""The model was not at work."""
WASTED = [
    says("{}"),
    says("I would rather talk about the weather."),
    says('{"colour": NaN}'),
    says('{"colour": "gr'),
    says(""),
    says({"colour": 7}),
    sends({"choices": []}),
    says({"colour": "green"}, cut=9),
]
"""The model was at work, for nothing: it may charge for that."""


class Moody:
    """Answers rightly, and in a share of cases not."""

    def __init__(self, right: Callable[[Asked], Reply], *, seed: int) -> None:
        self._right, self._random = right, random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.calm = False

    def __call__(self, asked: Asked) -> Reply:
        if self.calm or self._random.random() >= FAULTS:
            self.counts["right"] += 1
            return self._right(asked)
        kind = self._random.choice(["away", "wasted"])
        self.counts[kind] += 1
        return self._random.choice(AWAY if kind == "away" else WASTED)

    @property
    def asked(self) -> int:
        return self.counts.total()


PAINT = Path(__file__).with_name("paint.md")


class Colour(pydantic.BaseModel):
    colour: str


def check(reply: Colour) -> str:
    if reply.colour != "green":
        raise ModelMisbehaved("Say green.")
    return reply.colour


def put(agent: Agent, number: int) -> tuple[str | None, int]:
    """Ask as a job does that runs again after each outage; return the answer and its runs.

    The same number is asked of the same conversation, whose own marks fence what is quoted.
    """
    words = f"What colour has number {number}?"
    Job.objects.of(agent.tenant).delete()
    scope = uuid.UUID(int=number + 1)
    claim = claims.claim(enqueue(tenant=agent.tenant, kind=Kind.SEGMENT, scope=scope).id)
    assert claim is not None
    for failures in range(60):
        Breaker.objects.exclude(open_until=None).update(open_until=Now(), probing_until=None)
        ask = Asker(claim)
        try:
            return ask_mended(
                ask, file=PAINT, material=words, reply=Colour, check=check
            ), failures + 1
        except ModelUnavailable:
            continue
    raise AssertionError("it is never answered")


def test_of_hundreds_of_calls_nothing_is_lost_and_little_is_paid_in_vain(
    ana: Agent, model: ModelServer, say_figures: SayFigures
) -> None:
    moody = Moody(lambda asked: says({"colour": "green"}), seed=7)
    model.always("paint", moody)
    answers: list[str | None] = []
    at_once: list[int] = []
    runs = ways = 0
    calls = LLMCall.objects.of(ana.tenant)
    while moody.asked < CALLS:
        answer, took = put(ana, len(answers))
        ways_before, ways = ways, calls.values("request_sha256").distinct().count()
        if answer is not None and ways == ways_before + 1:
            at_once.append(len(answers))
        answers.append(answer)
        runs += took
    offline = answers.count(None)
    paid = moody.counts["right"] + moody.counts["wasted"]
    extra = paid / len(answers) - 1
    say_figures(
        f"{moody.asked} calls, {len(answers)} questions: {dict(moody.counts)}, {runs} runs,"
        f" {offline} left to the offline engine, {extra:.1%} paid beyond one each"
    )
    assert offline < len(answers) * FAULTS**2
    assert extra < EXTRA_AT_MOST
    assert calls.count() == moody.asked
    assert calls.filter(ok=True).count() == len(answers) - offline
    assert not calls.filter(finished_at=None).exists()
    for number in at_once[::50]:  # else the first way to ask has no answer, and is tried anew
        assert put(ana, number) == ("green", 1)
    assert moody.asked == calls.count(), "an answer that is known is not paid again"


def work_through_waits(agent: Agent) -> int:
    """Work as if every wait were over at once; return the rounds that took."""
    for rounds in range(1, 300):
        Breaker.objects.exclude(open_until=None).update(open_until=Now(), probing_until=None)
        Job.objects.of(agent.tenant).filter(state=State.READY).update(run_after=Now())
        drain_jobs()
        if not Job.objects.of(agent.tenant).exclude(state=State.DONE).exists():
            return rounds
    raise AssertionError("it never ends")


def talk_of_its_own(talk: uuid.UUID) -> list[dict[str, Any]]:
    """Return the talk in words that no other conversation has: its questions are its own."""
    return [{**said, "content": f"{said['content']} {talk.hex}"} for said in whole_talk()]


def test_a_moody_model_costs_a_pipeline_no_message_and_no_job(
    ana: Agent, model: ModelServer, say_figures: SayFigures
) -> None:
    rules: dict[str, Step] = {"segment": divide, "consolidate": conclude, "review": rate}
    moody = {
        purpose: Moody(rule, seed=seed)  # type: ignore[arg-type]
        for seed, (purpose, rule) in enumerate(rules.items())
    }
    for purpose, step in moody.items():
        model.always(purpose, step)
    talks = [uuid.uuid4() for _ in range(TALKS)]
    for _ in range(2):
        for talk in talks:
            body = {"conversation_id": str(talk)}
            question = {**body, "query": "What about the boxes and the race?"}
            assert ana.post("retrieve_memory", question).status_code == 200
            post(ana, talk, talk_of_its_own(talk))
            assert ana.post("flush", body).status_code == 202
        rounds = work_through_waits(ana)
    degraded = Episode.objects.of(ana.tenant).filter(degraded=True).count()
    episodes = Episode.objects.of(ana.tenant).count()
    counts = sum((one.counts for one in moody.values()), Counter())
    say_figures(
        f"{counts.total()} calls: {dict(counts)}; {episodes} episodes, {degraded} of them made"
        f" offline; {rounds} rounds at the end"
    )
    assert find_violations() == []
    assert not Message.objects.of(ana.tenant).filter(episode=None).exists()
    assert Message.objects.of(ana.tenant).count() == 2 * 16 * len(talks)
    assert degraded < episodes * 2 * FAULTS**2
    assert LLMCall.objects.of(ana.tenant).count() == counts.total()
