"""What an operator must mend is said wherever operators look, and is gone when it is mended."""

from __future__ import annotations

import logging
import uuid

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from episodic.models import Episode
from jobs.draining import drain_jobs
from jobs.models import Job, LLMCall, State
from jobs.reconciler import CALLED_WITHIN, reconcile
from memoryproject.ai.models import Breaker
from tests.conftest import Agent
from tests.llm.answers import changes, segment, segments
from tests.llm.conftest import flush_job
from tests.model_server import ModelServer, fails, says, sends
from wings.operations import metrics

pytestmark = pytest.mark.django_db
SENTENCE = "scripted: 401: the key was refused, see OPENAI_API_KEY"


def find_faults(agent: Agent) -> list[str]:
    told: list[str] = agent.get("health/ready").json().get("faults", [])
    return told


def test_a_refused_key_lets_work_wait_until_it_is_mended(
    model: ModelServer, ana: Agent, talk: uuid.UUID, caplog: pytest.LogCaptureFixture
) -> None:
    model.script("segment", fails(401))
    ana.flush(talk)
    job = flush_job(ana)
    assert (job.state, job.error_class, job.attempts) == (State.READY, "OperatorFault", 0)
    assert not Episode.objects.of(ana.tenant).exists(), "no rule stands in for a wrong key"
    assert find_faults(ana) == [SENTENCE]
    assert SENTENCE.partition(": ")[2] in caplog.text

    model.script("segment", says(segments(segment(7, "Mira's new job"))))
    model.script("consolidate", says(changes()))
    Breaker.objects.update(open_until=Now())
    reconcile()
    drain_jobs()
    job.refresh_from_db()
    assert (job.state, find_faults(ana)) == (State.DONE, [])


def test_when_it_is_mended_everybody_is_called(
    model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    model.script("segment", fails(401))
    ana.flush(talk)
    job = flush_job(ana)
    late = Now() + 10 * CALLED_WITHIN
    Job.objects.of(ana.tenant).filter(id=job.id).update(run_after=late)
    Breaker.objects.update(open_until=None, opened_at=None, fault="")
    reconcile()
    job.refresh_from_db()
    called = Job.objects.of(ana.tenant).filter(id=job.id, run_after__lte=Now() + CALLED_WITHIN)
    assert called.exists()


def test_a_model_that_is_not_configured_any_more_is_not_spoken_of(
    model: ModelServer, ana: Agent, talk: uuid.UUID, settings: Settings
) -> None:
    model.script("segment", fails(401))
    ana.flush(talk)
    assert find_faults(ana) == [SENTENCE]
    settings.CHAT_MODEL = "another"
    assert find_faults(ana) == []
    assert ana.get("health/ready").json()["models_away"] == []
    settings.CHAT_MODEL, settings.LLM = "scripted", "offline"
    assert find_faults(ana) == []


def test_answers_that_are_of_no_use_are_counted_by_their_reason(
    model: ModelServer, ana: Agent, talk: uuid.UUID, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="memory")
    choice = {"index": 0, "finish_reason": "length", "message": {"content": ""}}
    model.script("segment", sends({"choices": [choice]}))
    model.always("consolidate", says("No."))
    ana.flush(talk)
    reasons = LLMCall.objects.of(ana.tenant).values_list("purpose", "error_class")
    assert ("segment", "OnlyThoughts") in set(reasons)
    assert len(model.requests("segment")) == 1, "it would end like that again, and cost as much"
    assert "an answer to segment was of no use: OnlyThoughts" in caplog.text
    samples = {
        tuple(sample.labels.values()): sample.value
        for metric in metrics.read_models()
        if metric.name == "memory_model_useless_today"
        for sample in metric.samples
    }
    assert samples["segment", "OnlyThoughts"] == 1
    assert samples["consolidate", "ModelMisbehaved"] == 2
