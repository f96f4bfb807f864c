"""A model that is too slow for a question is asked shorter ones, and nobody else waits for that."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from episodic.models import Episode
from jobs import claims
from jobs.claims import FEWEST_LINES, LINES_AT_MOST, SLOW_FOR
from jobs.draining import drain_jobs
from jobs.enqueue import enqueue
from jobs.models import Job, Kind, LLMCall, State
from jobs.reconciler import reconcile
from memoryproject.ai.models import Breaker
from semantic.models import Changeset, Fact
from tests.conftest import Agent
from tests.llm.answers import change, changes, segment, segments, shown_lines
from tests.llm.conftest import forget_server, post
from tests.model_server import Asked, ModelServer, Reply, fails, says
from tests.talk import MORNING, MOVING, RUNNING, messages

pytestmark = pytest.mark.django_db

SLOW = "Slow talk"
FACT_LINES, SEGMENT_LINES = 8, 10
"""What the model answers in time."""


def answer_in_time(asked: Asked) -> Reply:
    """Hang at what is too long of the slow conversation; else answer well."""
    shown = shown_lines(asked)
    in_time = SEGMENT_LINES if asked.purpose == "segment" else FACT_LINES
    if SLOW in asked.user and len(shown) > in_time:
        return Reply(hang_s=20)
    if asked.purpose == "segment":
        return says(segments(*map(segment, dict.fromkeys([*shown[4::5], shown[-1]]))))
    said = [change("new", f"Mira said thing {n}.", messages=[n]) for n in shown]
    return says(changes(*said))


@pytest.fixture
def slow_model(model: ModelServer, settings: Settings) -> ModelServer:
    settings.MODEL_TIMEOUT_S = 1.0  # it answers the others in some 10 ms
    forget_server()
    model.always("segment", answer_in_time)
    model.always("consolidate", answer_in_time)
    return model


def slow_talk(agent: Agent, conversation: uuid.UUID) -> None:
    said = messages(MOVING + RUNNING, MORNING)
    post(agent, conversation, [{**one, "content": f"{SLOW}: {one['content']}"} for one in said])
    agent.post("flush", {"conversation_id": str(conversation)})


def drain_through_waits(agent: Agent) -> None:
    for _ in range(20):
        Job.objects.of(agent.tenant).filter(state=State.READY).update(run_after=Now())
        if not drain_jobs().ran:
            return
    raise AssertionError("it never ends")


@pytest.mark.gate
def test_all_is_learnt_in_the_end_by_the_model_itself(
    slow_model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    slow_talk(ana, conversation)
    drain_through_waits(ana)
    episodes = Episode.objects.of(ana.tenant).order_by("first_seq")
    covered = [seq for e in episodes for seq in range(e.first_seq, e.last_seq + 1)]
    assert covered == list(range(1, 17)) and not any(e.degraded for e in episodes)
    assert {fact.fact for fact in Fact.objects.of(ana.tenant)} == {
        f"Mira said thing {n}." for n in range(1, 17)
    }
    assert not Changeset.objects.of(ana.tenant).filter(degraded=True).exists()
    states = Job.objects.of(ana.tenant).values_list("state", "attempts")
    assert set(states) == {(State.DONE, 1)}
    timeouts = LLMCall.objects.of(ana.tenant).filter(ok=False).count()
    assert timeouts == 1, (
        "the shorter question about episodes tells how long one about facts may be"
    )


@pytest.mark.gate
def test_the_next_job_of_the_conversation_knows_and_another_conversation_is_not_concerned(
    slow_model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    slow_talk(ana, conversation)
    drain_through_waits(ana)
    for scope, knows in ((conversation_id(ana), True), (uuid.uuid4(), False)):
        claim = claims.claim(enqueue(tenant=ana.tenant, kind=Kind.CONSOLIDATE, scope=scope).id)
        assert claim is not None and (claim.lines_at_most is not None) is knows
    Job.objects.of(ana.tenant).update(
        created_at=Now() - SLOW_FOR, state=State.DONE, lease_token=None
    )
    fresh = enqueue(tenant=ana.tenant, kind=Kind.CONSOLIDATE, scope=conversation_id(ana))
    claim = claims.claim(fresh.id)
    assert claim is not None and claim.lines_at_most is None, "by then the model may be faster"


def conversation_id(agent: Agent) -> uuid.UUID:
    return Episode.objects.of(agent.tenant).first().conversation_id  # type: ignore[union-attr]


@pytest.mark.gate
def test_the_questions_of_a_conversation_shrink_to_a_few_lines_and_no_further(
    slow_model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    slow_model.always("segment", Reply(hang_s=20))
    slow_talk(ana, conversation)
    for _ in range(4):
        Breaker.objects.all().delete()
        Job.objects.of(ana.tenant).filter(state=State.READY).update(run_after=Now())
        drain_jobs()
    job = Job.objects.of(ana.tenant).get()
    assert (job.state, job.attempts, job.transient_failures) == (State.READY, 0, 4)
    assert job.input[LINES_AT_MOST] == FEWEST_LINES
    assert [len(shown_lines(asked)) for asked in slow_model.asked] == [16, 10, 10, 10]


@pytest.mark.gate
def test_while_one_conversation_times_out_others_are_answered(
    slow_model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    slow_model.always("segment", hang_at_the_slow_one(answer_in_time))
    for round_number in range(3):
        if not round_number:
            slow_talk(ana, conversation)
        Job.objects.of(ana.tenant).filter(state=State.READY).update(run_after=Now())
        drain_jobs()
    assert not Breaker.objects.exclude(open_until=None).exists()
    other = uuid.uuid4()
    post(ana, other, messages(MOVING, MORNING))
    drained = ana.flush(other)
    assert (drained.dead, drained.later) == (0, 1), "the slow one alone waits"
    assert Episode.objects.of(ana.tenant).latest("last_seq").last_seq == 8


@pytest.mark.gate
def test_while_several_time_out_the_next_to_try_is_one_that_has_not(
    slow_model: ModelServer, ana: Agent
) -> None:
    slow_model.always("segment", hang_at_the_slow_one(answer_in_time))
    for _ in range(2):  # as many as open the breaker; who has not asked yet may be chosen
        slow_talk(ana, uuid.uuid4())
    drain_jobs()
    assert Breaker.objects.exclude(open_until=None).exists()
    other = uuid.uuid4()
    post(ana, other, messages(MOVING, MORNING))
    assert ana.flush(other).later
    assert not Episode.objects.of(ana.tenant).exists()
    Breaker.objects.update(open_until=Now(), probing_until=None)
    reconcile()
    drain_jobs()
    assert Episode.objects.of(ana.tenant).latest("last_seq").last_seq == 8


def hang_at_the_slow_one(otherwise: Callable[[Asked], Reply]) -> Callable[[Asked], Reply]:
    return lambda asked: Reply(hang_s=20) if SLOW in asked.user else otherwise(asked)


def test_what_does_not_fit_into_a_jobs_time_goes_on_in_another_run(
    model: ModelServer, ana: Agent, talk: uuid.UUID, settings: Settings
) -> None:
    settings.JOB_TIMEOUT_S = settings.MODEL_TIMEOUT_S  # there is time for one question a run
    model.script("segment", says(segments(segment(7))))
    model.script("consolidate", says(changes(change("new", "Mira moves."))))
    drained = ana.flush(talk)
    assert (drained.ran, drained.later, drained.dead) == (2, 0, 0)
    assert Fact.objects.of(ana.tenant).get().fact == "Mira moves."
    job = Job.objects.of(ana.tenant).get()
    assert (job.state, job.attempts, job.transient_failures) == (State.DONE, 1, 0)


def test_a_flush_and_the_jobs_that_it_replaces_do_not_ask_at_the_same_time(ana: Agent) -> None:
    scope = uuid.uuid4()
    kinds = (Kind.FLUSH, Kind.SEGMENT, Kind.CONSOLIDATE)
    flush, cutting, drawing = (enqueue(tenant=ana.tenant, kind=kind, scope=scope) for kind in kinds)
    running = claims.claim(flush.id)
    assert running is not None
    assert claims.claim(cutting.id) is None and claims.claim(drawing.id) is None
    claims.hand_back(running)
    assert claims.claim(cutting.id) is not None and claims.claim(drawing.id) is not None
    assert claims.claim(flush.id) is None
    Job.objects.of(ana.tenant).filter(state=State.RUNNING).update(
        error_class="ModelUnavailable", lease_until=Now() + timedelta(minutes=9)
    )
    assert claims.claim(flush.id) is not None, "what failed, and keeps its place, asks nothing"


def test_a_run_that_waits_for_a_model_counts_as_at_work_for_as_long_as_that_may_take(
    model: ModelServer, ana: Agent, talk: uuid.UUID, settings: Settings
) -> None:
    settings.MODEL_TIMEOUT_S = 500
    model.script("segment", fails(503))
    ana.flush(talk)  # which commits nothing: a commit would set the time anew
    (job,) = Job.objects.of(ana.tenant).filter(kind=Kind.FLUSH)
    assert job.busy_until and job.started_at
    assert job.busy_until - job.started_at > timedelta(seconds=500)
