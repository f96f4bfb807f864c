"""A model that is away: the work waits, writes nothing, and is done when it is back.

In how many ways it can be away stands in tests/reliability/test_model_faults.py.
"""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone
from pytest_django import Settings

from episodic.models import Episode, Message
from episodic.queries import database_now
from jobs.models import State
from jobs.tasks import BACKOFF_FIRST
from memoryproject.ai.models import Breaker
from semantic.models import Changeset
from tests.conftest import Agent
from tests.llm.answers import changes, segment, segments
from tests.llm.conftest import flush_job, forget_server, run_again
from tests.model_server import ModelServer, fails, says

pytestmark = pytest.mark.django_db

GOOD = segments(segment(7))


def finish(model: ModelServer, ana: Agent) -> None:
    """Let the model come back; the same job completes."""
    model.script("segment", says(GOOD))
    model.script("consolidate", says(changes()))
    job = flush_job(ana)
    drained = run_again(job)
    assert (drained.later, drained.dead, job.state) == (0, 0, State.DONE)
    episode = Episode.objects.of(ana.tenant).get()
    assert (episode.first_seq, episode.last_seq, episode.degraded) == (1, 8, False)
    assert Message.objects.of(ana.tenant).filter(episode=episode).count() == 8


def test_work_waits_while_nobody_listens(
    model: ModelServer, ana: Agent, talk: uuid.UUID, settings: Settings
) -> None:
    settings.OPENAI_BASE_URL = "http://127.0.0.1:1/v1"
    ana.flush(talk)
    job = flush_job(ana)
    assert (job.state, job.error_class, job.attempts) == (State.READY, "ModelUnavailable", 0)
    settings.OPENAI_BASE_URL = model.url
    forget_server()
    finish(model, ana)


@pytest.mark.parametrize(
    ("header", "at_least", "at_most"),
    [
        ("90.5", 90.5, 150),
        ("99999999999999", 3600, 3660),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 0, 60),
        ("²", 0, 60),
    ],
)
def test_a_busy_provider_says_when_to_come_back(
    header: str,
    at_least: float,
    at_most: float,
    model: ModelServer,
    ana: Agent,
    talk: uuid.UUID,
) -> None:
    encoded = header.encode().decode("latin-1")  # what http.server writes, byte by byte
    model.script("segment", fails(429, retry_after=encoded))
    ana.flush(talk)
    waits = flush_job(ana).run_after - database_now()
    assert timedelta(seconds=at_least) <= waits <= timedelta(seconds=at_most)


def test_no_number_of_outages_uses_a_job_up(
    model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    model.script("segment", *[fails(503)] * 7)
    ana.flush(talk)
    job = flush_job(ana)
    for _ in range(6):
        Breaker.objects.update(open_until=Now())
        run_again(job)
    assert (job.state, job.attempts, job.transient_failures) == (State.READY, 0, 7)
    Breaker.objects.update(open_until=Now())
    finish(model, ana)


def test_an_answer_makes_the_next_failure_of_the_job_a_first_one(
    model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    model.script("segment", *[fails(503)] * 4, says(GOOD))
    model.script("consolidate", fails(503))
    ana.flush(talk)
    job = flush_job(ana)
    for _ in range(4):
        run_again(job)
    assert (job.state, job.transient_failures) == (State.READY, 1)
    assert job.run_after - timezone.now() <= BACKOFF_FIRST


def test_a_consolidator_that_is_away_leaves_the_episodes_fresh(
    model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    model.script("segment", says(GOOD))
    model.script("consolidate", fails(503))
    ana.flush(talk)
    assert Episode.objects.of(ana.tenant).get().consolidated_at is None
    assert not Changeset.objects.of(ana.tenant).exists()
    model.script("consolidate", says(changes()))
    run_again(flush_job(ana))
    assert Episode.objects.of(ana.tenant).get().consolidated_at is not None
    assert len(model.requests("segment")) == 1
