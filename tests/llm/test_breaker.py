"""A model that is down is left alone, and noticed when it is back."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now
from pytest_django import Settings

from episodic.models import Episode, Message
from jobs.calls import FAILURES_WAITED_FOR
from jobs.draining import drain_jobs
from jobs.models import Job, LLMCall, State
from jobs.reconciler import reconcile
from memoryproject.ai import breaker
from memoryproject.ai.breaker import FAILURES, PAUSE, BreakerOpen, guard
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.ai.models import Breaker
from tests.conftest import Agent
from tests.llm.answers import changes, segment, segments
from tests.llm.conftest import flush_job, post, run_again
from tests.model_server import Asked, ModelServer, Reply, fails, says
from tests.talk import MORNING, MOVING, messages

pytestmark = pytest.mark.django_db


def named(model: str) -> breaker.Name:
    return breaker.Name(breaker.find_chat_model().provider, model)


def fail(model: str, error: Exception | None = None, *, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(ModelUnavailable), guard(named(model)):
            raise error or ModelUnavailable("away")


def let_pass(seconds: float) -> None:
    """Move the breakers' times into the past by so much."""
    by = timedelta(seconds=seconds)
    for name in ("counting_since", "opened_at", "open_until", "probing_until"):
        held = Breaker.objects.filter(**{f"{name}__isnull": False})
        held.update(**{name: F(name) - by})


def is_asked(model: str) -> bool:
    try:
        with guard(named(model)):
            return True
    except BreakerOpen:
        return False


def test_some_failures_in_a_row_open_it_for_this_model_alone() -> None:
    fail("a", times=FAILURES - 1)
    assert is_asked("a"), "an answer ends the row"
    fail("a", times=FAILURES)
    assert not is_asked("a") and is_asked("b") and not breaker.is_closed(named("a"))


def test_failures_far_apart_do_not_open_it() -> None:
    for _ in range(3 * FAILURES):
        fail("a")
        let_pass(breaker.WITHIN.total_seconds() / (FAILURES - 2))
    assert is_asked("a")


def test_an_answer_of_no_use_is_an_answer() -> None:
    fail("a", times=FAILURES - 1)
    with pytest.raises(ModelMisbehaved), guard(named("a")):
        raise ModelMisbehaved("prose")
    fail("a", times=FAILURES - 1)
    assert is_asked("a")


def test_after_the_pause_one_may_try_and_no_more() -> None:
    fail("a", times=FAILURES)
    let_pass(PAUSE.total_seconds() + 1)
    with guard(named("a")):
        assert not is_asked("a"), "another tries already"
    assert breaker.is_closed(named("a"))


def test_a_try_that_fails_opens_it_anew_and_one_that_dies_does_not_hold_it() -> None:
    fail("a", times=FAILURES)
    let_pass(PAUSE.total_seconds() + 1)
    fail("a")
    assert not is_asked("a")
    let_pass(PAUSE.total_seconds() + 1)
    Breaker.objects.update(probing_until=Now() + PAUSE)  # taken by somebody who was killed
    assert not is_asked("a")
    let_pass(PAUSE.total_seconds() + 1)
    assert is_asked("a")


def test_a_provider_that_asks_for_a_longer_pause_gets_it() -> None:
    fail("a", ModelUnavailable("busy", retry_after_s=100), times=FAILURES)
    let_pass(90)
    assert not is_asked("a")
    let_pass(11)
    assert is_asked("a")


def time_out(model: str, scope: uuid.UUID) -> None:
    with pytest.raises(ModelUnavailable), guard(named(model), scope=scope):
        raise ModelUnavailable("too slow", timed_out=True)


def test_timeouts_of_one_conversation_stop_no_other_and_those_of_two_do() -> None:
    one, other = uuid.uuid4(), uuid.uuid4()
    for _ in range(3 * FAILURES):
        time_out("a", one)
    assert breaker.is_closed(named("a"))
    time_out("a", other)
    assert not is_asked("a")


def test_an_answer_between_two_timeouts_keeps_it_closed() -> None:
    for _ in range(FAILURES):
        time_out("a", uuid.uuid4())
        assert is_asked("a")


def test_while_somebody_tries_nobody_begins_work_that_needs_the_model() -> None:
    fail("a", times=FAILURES)
    let_pass(PAUSE.total_seconds() + 1)
    breaker.check(named("a"))
    with guard(named("a")), pytest.raises(BreakerOpen):
        breaker.check(named("a"))


def test_what_we_refuse_ourselves_is_no_failure_of_the_model() -> None:
    fail("a", BreakerOpen("ours"), times=3 * FAILURES)
    assert is_asked("a")


GOOD = segments(segment(7))


def answer(asked: Asked) -> Reply:
    return says(GOOD if asked.purpose == "segment" else changes())


@pytest.mark.gate
def test_in_an_hours_outage_everything_is_taken_and_the_model_hardly_asked(
    model: ModelServer, ana: Agent
) -> None:
    """An hour in steps of half a minute, in which every wait and every pause passes."""
    talks = [uuid.uuid4() for _ in range(6)]
    model.always("segment", fails(503))
    while_open = []
    for minute in range(60):
        for half in range(2):
            if half == 0 and minute % 10 == 0:
                talk = talks[minute // 10]
                post(ana, talk, messages(MOVING, MORNING))
                ana.post("flush", {"conversation_id": str(talk)})
            before, was_open = len(model.asked), not breaker.is_closed(named("scripted"))
            reconcile()
            drain_jobs()
            while_open += [len(model.asked) - before] if was_open else []
            let_pass(30)
            waiting = Job.objects.of(ana.tenant).filter(state=State.READY)
            waiting.update(run_after=F("run_after") - timedelta(seconds=30))
    assert len(while_open) > 90 and max(while_open) <= 1, "one probe every half a minute"
    assert sum(while_open) > 30, "but it is looked whether the model is back"
    assert Message.objects.of(ana.tenant).count() == 8 * len(talks)
    assert not Episode.objects.of(ana.tenant).exists()

    model.always("segment", answer)
    model.always("consolidate", answer)
    for _ in range(8):  # four minutes
        let_pass(30)
        waiting = Job.objects.of(ana.tenant).filter(state=State.READY)
        waiting.update(run_after=F("run_after") - timedelta(seconds=30))
        reconcile()
        drain_jobs()
    assert set(Job.objects.of(ana.tenant).values_list("state", flat=True)) == {State.DONE}
    assert not Message.objects.of(ana.tenant).filter(episode=None).exists()
    assert not Episode.objects.of(ana.tenant).filter(degraded=True).exists()
    assert breaker.is_closed(named("scripted"))


def test_while_the_model_is_down_jobs_wait_without_asking_it(
    model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    Breaker.objects.create(
        provider=breaker.find_chat_model().provider, model="scripted", failures=5,
        opened_at=Now(), open_until=Now() + PAUSE,
    )  # fmt: skip
    ana.flush(talk)
    job = flush_job(ana)
    assert (job.state, job.error_class, job.attempts) == (State.READY, "BreakerOpen", 0)
    assert job.transient_failures == 0 and not model.asked
    assert not LLMCall.objects.of(ana.tenant).exists()
    assert ana.get("health/ready").json()["models_away"] == ["scripted"]


def test_a_question_that_the_model_dies_of_is_answered_offline_in_the_end(
    model: ModelServer, ana: Agent, talk: uuid.UUID, settings: Settings
) -> None:
    model.always("segment", fails(500))
    model.always("consolidate", fails(500))
    ana.post("flush", {"conversation_id": str(talk)})
    job = flush_job(ana)
    for _ in range(2 * FAILURES_WAITED_FOR):
        Breaker.objects.all().delete()  # as others get their answers in between
        run_again(job)
        if job.state == State.DONE:
            break
    assert (job.state, job.transient_failures) == (State.DONE, FAILURES_WAITED_FOR)
    episodes = Episode.objects.of(ana.tenant)
    assert episodes and all(episode.degraded for episode in episodes)
