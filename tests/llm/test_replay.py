"""A run that dies between the answer and its commit: the next one answers from the record."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence

import pytest
from django.db.models.functions import Now

from episodic import segmentation
from episodic.choice import make_segmenter
from episodic.models import Conversation, Episode
from jobs import claims
from jobs.calls import Asker
from jobs.claims import LeaseLost
from jobs.draining import drain_jobs
from jobs.models import Job, LLMCall, State
from memoryproject.wings import Wing
from tests.conftest import Agent
from tests.llm.answers import changes, segment, segments
from tests.llm.conftest import flush_job
from tests.model_server import ModelServer, says

pytestmark = pytest.mark.django_db


class Killed(Exception):
    """Stands for the end of the process."""


def die(conversation: Conversation, episodes: Sequence[Episode]) -> None:
    raise Killed


def outlive_the_lease(conversation: Conversation, episodes: Sequence[Episode]) -> None:
    Job.objects.of(conversation.tenant).update(lease_token=uuid.uuid4())


@pytest.mark.parametrize(
    ("within_commit", "error"),
    [(die, Killed), (outlive_the_lease, LeaseLost)],
    ids=["killed in the commit", "another run holds the job"],
)
def test_a_replay_pays_nothing_and_answers_the_same(
    within_commit: Callable[[Conversation, Sequence[Episode]], None],
    error: type[Exception],
    model: ModelServer,
    ana: Agent,
    talk: uuid.UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = segments(segment(3, "Mira's job"), segment(7, "Jonas's van"))
    model.script("segment", says(answer, usage={"prompt_tokens": 600, "completion_tokens": 80}))
    model.script("consolidate", says(changes()))
    assert ana.post("flush", {"conversation_id": str(talk)}).status_code == 202
    job = flush_job(ana)
    claim = claims.claim(job.id)
    assert claim is not None
    with monkeypatch.context() as patch, pytest.raises(error):
        patch.setattr(segmentation, "list_wings", lambda: [Wing(on_episodes=within_commit)])
        segmentation.segment_window(
            claim=claim,
            segmenter=make_segmenter(Asker(claim)),
            everything=True,
        )
    assert not Episode.objects.of(ana.tenant).exists()
    Job.objects.of(ana.tenant).filter(state=State.RUNNING).update(lease_until=Now() - claims.LEASE)
    drain_jobs()
    episodes = Episode.objects.of(ana.tenant).order_by("first_seq")
    assert [episode.title for episode in episodes] == ["Mira's job", "Jonas's van"]
    assert len(model.requests("segment")) == 1
    call = LLMCall.objects.of(ana.tenant).get(purpose="segment")
    assert (call.ok, call.input_tokens, call.output_tokens) == (True, 600, 80)


def test_a_useless_answer_is_on_record_too(model: ModelServer, ana: Agent, talk: uuid.UUID) -> None:
    """It has the asked-for form: a replay would not pay for it again."""
    model.script("segment", says(segments(segment(1))), says(segments(segment(2))))
    model.script("consolidate", says(changes()))
    ana.flush(talk)
    assert Episode.objects.of(ana.tenant).filter(degraded=True).exists()
    calls = LLMCall.objects.of(ana.tenant).filter(purpose="segment")
    assert calls.filter(ok=True).count() == 2


def test_another_tenant_does_not_share_the_record(
    model: ModelServer, ana: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    model.script("segment", *[says(segments(segment(0, 0)))] * 2)
    model.script("consolidate", *[says(changes())] * 2)
    said = {"timestamp": "2026-03-02T09:00:00Z"}
    for agent in (ana, cleo):
        agent.say(conversation, "I moved to Porto.", **said)
        agent.flush(conversation)
    assert len({asked.user.splitlines()[1] for asked in model.requests("segment")}) == 1
    for agent in (ana, cleo):
        assert LLMCall.objects.of(agent.tenant).filter(ok=True).count() == 2
