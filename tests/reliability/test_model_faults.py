"""Everything that a model is known to do wrong, side by side with what comes of it.

Whatever it is: no message is lost, no job dies, the model is asked a bounded number of
times, each of them is on record, and the API serves as ever.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from episodic.models import Episode, Message, Review
from episodic.queries import database_now
from jobs.draining import drain_jobs
from jobs.models import Job, LLMCall, State
from memoryproject.ai.breaker import FAILURES, TIMEOUT_COUNTS
from memoryproject.ai.models import Breaker
from semantic.models import Changeset
from tests.conftest import Agent
from tests.llm.answers import change, changes, ratings, segment, segments, shown_memories
from tests.llm.conftest import forget_server, model, post
from tests.model_server import Asked, ModelServer, Reply, Step, fails, says, sends
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages

__all__ = ["model"]  # a fixture
pytestmark = [pytest.mark.django_db, pytest.mark.gate]

HARBOUR = "Mira works at the harbour authority in Rotterdam."
GOOD = segments(segment(7, "Mira's new job"))
FACTS = changes(change("new", HARBOUR))
BROKEN = {"action": "new", "cat": "identity", "msgs": [1]}
LONG = "x" * 10_000_000


class Outcome(Enum):
    """What comes of a fault, and how often the model is asked until all is done."""

    PARKED = "the work waits, at no attempt, and is done when the model is back", 2
    ASKED_AGAIN = "the model is told what was wrong, and its second answer is taken", 2
    OFFLINE = "after a second such answer the offline engine does it, marked degraded", 2
    REFUSED = "it is not asked again: the offline engine does it, marked degraded", 1
    MENDED = "what miscounts is set right, and the answer taken", 1
    TAKEN = "the answer is taken; what is of no use in it is left out, or kept with a note", 1

    @property
    def questions(self) -> int:
        return self.value[1]


@dataclass(frozen=True)
class Fault:
    """What a model answers to a question of one purpose, and what comes of it."""

    outcome: Outcome
    step: Step
    purpose: str = "segment"
    ends: tuple[int, ...] = ()
    """Where the episodes end that are made of it; empty: anywhere."""


def choice(**said: Any) -> Reply:
    """Answer with a message of any shape."""
    finish = said.pop("finish_reason", "stop")
    message = {"role": "assistant", **said}
    return sends({"choices": [{"index": 0, "finish_reason": finish, "message": message}]})


def rates(**rating: str) -> Callable[[Asked], Reply]:
    """Rate each memory that is shown, and after them those of other names."""

    def rate(asked: Asked) -> Reply:
        shown = dict.fromkeys(shown_memories(asked).values(), rating.get("shown", "good"))
        return says(ratings(**shown, **{key: "easy" for key in rating if key != "shown"}))

    return rate


WAIT, AGAIN, OFFLINE = Outcome.PARKED, Outcome.ASKED_AGAIN, Outcome.OFFLINE
REFUSED, MENDED, TAKEN = Outcome.REFUSED, Outcome.MENDED, Outcome.TAKEN
FAULTS: dict[str, Fault] = {
    # The model is away: somebody else's fault, and it passes.
    "an internal error": Fault(WAIT, fails(500)),
    "an overloaded server": Fault(WAIT, fails(503)),
    "too many requests": Fault(WAIT, fails(429)),
    "too many requests, come back later": Fault(WAIT, fails(429, retry_after="90")),
    "a wrong key": Fault(WAIT, fails(401)),
    "an empty account": Fault(WAIT, fails(402)),
    "an unknown model": Fault(WAIT, fails(404)),
    "a hang longer than the timeout": Fault(WAIT, Reply(hang_s=20)),
    "one byte now and then": Fault(WAIT, says(GOOD, drip_s=0.1)),
    "a connection closed within the body": Fault(WAIT, says(GOOD, cut=40)),
    "a closed connection": Fault(WAIT, Reply(drop=True)),
    "a proxy's page": Fault(WAIT, Reply(body=b"<html>Bad gateway</html>")),
    "an empty body": Fault(WAIT, Reply(body=b"")),
    "a body that ends too early": Fault(WAIT, Reply(body=says(GOOD).body[:-40])),
    "an error behind a status of 200": Fault(WAIT, sends({"error": {"code": 429}})),
    "away when asked for facts": Fault(WAIT, fails(503), "consolidate"),
    "away when asked for ratings": Fault(WAIT, fails(503), "review"),
    # It answered, and nothing can be done with it.
    "nothing": Fault(AGAIN, says("")),
    "prose": Fault(AGAIN, says("I would rather talk about the weather.")),
    "prose, twice": Fault(OFFLINE, says("I would rather talk about the weather.")),
    "a refusal": Fault(REFUSED, choice(content=None, refusal="I cannot help with moving house.")),
    "no content": Fault(OFFLINE, choice(content=None)),
    "no choice": Fault(OFFLINE, sends({"choices": []})),
    "choices that are none": Fault(OFFLINE, sends({"choices": "none"})),
    "cut off by its length": Fault(
        AGAIN, choice(content=json.dumps(GOOD)[:-30], finish_reason="length")
    ),
    "half an object": Fault(AGAIN, says(json.dumps(GOOD)[:-30])),
    "half an object, twice": Fault(OFFLINE, says("{")),
    "an array": Fault(AGAIN, says("[1, 2]")),
    "another form": Fault(AGAIN, says({"chapters": []})),
    "NaN": Fault(AGAIN, says('{"episodes": NaN}')),
    "Infinity": Fault(AGAIN, says(json.dumps(GOOD).replace('"last": 7', '"last": 1e999'))),
    "NUL": Fault(AGAIN, says(segments(segment(7, "Mira's\x00 new job")))),
    "half a surrogate pair": Fault(AGAIN, says(segments(segment(7, "Mira's \ud800 job")))),
    "ten megabytes": Fault(AGAIN, says(segments(segment(7, LONG)))),
    "an object a thousand levels deep": Fault(AGAIN, says('{"a":' * 5000 + "1" + "}" * 5000)),
    "a question that it must not answer": Fault(
        REFUSED, sends({"error": {"code": "content_filter", "message": "no"}}, status=400)
    ),
    # A partition that is none.
    "no episode": Fault(AGAIN, says(segments())),
    "too few messages": Fault(AGAIN, says(segments(segment(2)))),
    "too few messages, twice": Fault(OFFLINE, says(segments(segment(2)))),
    "negative numbers": Fault(AGAIN, says(segments(segment(-4), segment(7)))),
    "huge numbers": Fault(AGAIN, says(segments(segment(10**30), segment(10**30 + 1)))),
    "numbers that are none": Fault(AGAIN, says(segments(segment(7) | {"last": "the last"}))),
    "the same episode twice": Fault(AGAIN, says(segments(segment(7), segment(7)))),
    "falling numbers": Fault(AGAIN, says(segments(segment(7), segment(3)))),
    "a huge end": Fault(MENDED, says(segments(segment(3), segment(10**30))), ends=(4, 8)),
    "counted from one": Fault(MENDED, says(segments(segment(4), segment(8))), ends=(4, 8)),
    "an early end": Fault(MENDED, says(segments(segment(3), segment(5))), ends=(4, 8)),
    # Not as it was asked for, and good enough.
    "prose around the object": Fault(TAKEN, says(f"Sure!\n```\n{json.dumps(GOOD)}\n```")),
    "thinking aloud": Fault(TAKEN, says(f"<think>Two? {{}}</think>{json.dumps(GOOD)}")),
    "an unknown level of surprise": Fault(TAKEN, says(segments(segment(7, surprise="big")))),
    "no words": Fault(TAKEN, says(segments(segment(7, " ", summary="\n")))),
    "words left out": Fault(TAKEN, says(segments({"last": 7}))),
    "endless words": Fault(TAKEN, says(segments(segment(7, "米拉" * 5000)))),
    # About facts and ratings.
    "another action": Fault(AGAIN, says({"forget": []}), "consolidate"),
    "an unknown category": Fault(
        TAKEN, says(changes(change("new", HARBOUR, category="gossip"))), "consolidate"
    ),
    "a change without a fact": Fault(AGAIN, says(changes(BROKEN)), "consolidate"),
    "one broken change of two": Fault(
        TAKEN, says(changes(BROKEN, change("new", HARBOUR))), "consolidate"
    ),
    "a day that is none": Fault(
        TAKEN, says(changes(change("new", HARBOUR, since="soon"))), "consolidate"
    ),
    "changes that are none, twice": Fault(OFFLINE, says({"new": "none"}), "consolidate"),
    "an unknown alias": Fault(AGAIN, says(changes(change("update", HARBOUR, "F9"))), "consolidate"),
    "an id in place of an alias": Fault(
        AGAIN, says(changes(change("update", HARBOUR, str(uuid.uuid4())))), "consolidate"
    ),
    "messages that nobody said": Fault(
        TAKEN, says(changes(change("new", HARBOUR, messages=[-1, 10**20]))), "consolidate"
    ),
    "ratings without names": Fault(AGAIN, says({"ratings": [{"rating": "good"}]}), "review"),
    "no ratings, twice": Fault(OFFLINE, says({"ratings": "good"}), "review"),
    "an unknown rating": Fault(TAKEN, rates(shown="splendid"), "review"),
    "a rating of what was not shown": Fault(TAKEN, rates(E9="easy"), "review"),
}  # fmt: skip


def degraded(ana: Agent, purpose: str) -> list[bool]:
    """Return for each thing made on the way whether it was made without the model."""
    kinds: dict[str, Any] = {"segment": Episode, "consolidate": Changeset, "review": Review}
    return list(kinds[purpose].objects.of(ana.tenant).values_list("degraded", flat=True))


def lead_up(ana: Agent, talk: uuid.UUID, fault: Fault) -> int:
    """Let the conversation come to the question; return how many messages it has."""
    post(ana, talk, messages(MOVING, MORNING))
    if fault.purpose != "review":
        return 8
    assert ana.flush(talk).later == 0
    question = {"conversation_id": str(talk), "query": "Where does Mira work?"}
    assert ana.post("retrieve_memory", question).status_code == 200
    post(ana, talk, messages(RUNNING, EVENING))
    return 16


def script(model: ModelServer, fault: Fault) -> None:
    model.always("segment", says(GOOD))
    model.always("consolidate", says(FACTS))
    model.always("review", rates())
    model.script(fault.purpose, *[fault.step] * (2 if fault.outcome is OFFLINE else 1))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_what_comes_of(
    fault: Fault, model: ModelServer, ana: Agent, conversation: uuid.UUID, settings: Settings
) -> None:
    script(model, fault)
    count = lead_up(ana, conversation, fault)
    step = fault.step
    if isinstance(step, Reply) and (step.hang_s or step.drip_s):
        settings.MODEL_TIMEOUT_S = 0.3
        forget_server()
    asked_before = len(model.requests(fault.purpose))
    drained = ana.flush(conversation)
    assert drained.dead == 0
    if fault.outcome is Outcome.PARKED:
        assert_parked(ana, fault)
        settings.MODEL_TIMEOUT_S = 10
        forget_server()
        Job.objects.of(ana.tenant).filter(state=State.READY).update(run_after=Now())
        Breaker.objects.exclude(open_until=None).update(open_until=Now())
        drained = drain_jobs()
    ends = assert_done(ana, count)
    assert not fault.ends or ends == fault.ends
    assert (drained.later, drained.dead) == (0, 0)
    assert len(model.requests(fault.purpose)) - asked_before == fault.outcome.questions
    assert LLMCall.objects.of(ana.tenant).count() == len(model.asked)
    failed = LLMCall.objects.of(ana.tenant).filter(ok=False)
    assert not failed.exclude(response=None).exists() and not failed.filter(error_class="").exists()
    by_itself = fault.outcome in {Outcome.OFFLINE, Outcome.REFUSED}
    assert any(degraded(ana, fault.purpose)) is by_itself


def assert_parked(ana: Agent, fault: Fault) -> None:
    """The job waits at no attempt, and the API serves meanwhile."""
    job = Job.objects.of(ana.tenant).get(state=State.READY)
    mended = isinstance(fault.step, Reply) and fault.step.status in {401, 402, 404}
    error = ("OperatorFault", 0, 0) if mended else ("ModelUnavailable", 0, 1)
    assert (job.error_class, job.attempts, job.transient_failures) == error
    assert job.run_after > database_now()
    call = LLMCall.objects.of(ana.tenant).get(ok=False)
    assert (call.error_class, call.purpose) == (error[0], fault.purpose)
    assert ana.get("health/ready").status_code == 200
    elsewhere = uuid.uuid4()
    ana.say(elsewhere, "I moved to Porto.")
    question = {"conversation_id": str(elsewhere), "query": "Porto"}
    assert ana.post("retrieve_memory", question).status_code == 200
    slow = isinstance(fault.step, Reply) and (fault.step.hang_s or fault.step.drip_s)
    counted = FAILURES if mended else TIMEOUT_COUNTS if slow else 1
    assert Breaker.objects.get().failures == counted


def assert_done(ana: Agent, count: int) -> tuple[int, ...]:
    """Each message is in just one episode, and from each facts were drawn; return their ends."""
    jobs = Job.objects.of(ana.tenant)
    assert set(jobs.values_list("state", flat=True)) == {State.DONE}
    (place,) = {row.conversation_id for row in Episode.objects.of(ana.tenant)}
    episodes = Episode.objects.of(ana.tenant).order_by("first_seq")
    covered = [seq for one in episodes for seq in range(one.first_seq, one.last_seq + 1)]
    assert covered == list(range(1, count + 1))
    said = Message.objects.of(ana.tenant).filter(conversation=place)
    assert said.count() == count and not said.filter(episode=None).exists()
    assert all(one.consolidated_at and one.title.strip() for one in episodes)
    assert all(one.summary.strip() for one in episodes)
    return tuple(one.last_seq for one in episodes)


def test_the_table_covers_what_it_says() -> None:
    assert len(FAULTS) >= 60
    assert {fault.outcome for fault in FAULTS.values()} == set(Outcome)
