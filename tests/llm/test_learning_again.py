"""What the offline engine made while the model gave no useful answer is made anew."""

from __future__ import annotations

import uuid
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django import Settings

from episodic.models import Episode, Message
from jobs.draining import drain_jobs
from semantic.models import Changeset, Fact
from tests.conftest import Agent
from tests.llm.answers import change, changes, segment, segments
from tests.model_server import ModelServer, fails, says

pytestmark = pytest.mark.django_db


def learn_again(*options: str) -> str:
    out = StringIO()
    call_command("learn_again", *options, stdout=out)
    return out.getvalue()


def live_episodes(agent: Agent) -> list[Episode]:
    return list(Episode.objects.of(agent.tenant).filter(withheld_by=None))


def test_degraded_episodes_and_facts_are_made_anew(
    model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    model.always("segment", says("I cannot help with that."))
    model.always("consolidate", says("I cannot help with that."))
    ana.flush(talk)
    assert all(episode.degraded for episode in live_episodes(ana))
    assert Changeset.objects.of(ana.tenant).filter(degraded=True).exists()
    assert "1 conversations to learn again" in learn_again("--count")

    model.always("segment", says(segments(segment(7, "Mira's new job"))))
    model.always("consolidate", says(changes(change("new", "Mira moves to Rotterdam."))))
    assert "1 conversations being learnt again" in learn_again()
    drain_jobs()
    (episode,) = live_episodes(ana)
    assert (episode.title, episode.degraded) == ("Mira's new job", False)
    assert Message.objects.of(ana.tenant).filter(episode=episode).count() == 8
    active = Fact.objects.of(ana.tenant).filter(invalid_at=None)
    assert [fact.fact for fact in active] == ["Mira moves to Rotterdam."]
    assert "0 conversations being learnt again" in learn_again()


def test_facts_alone_are_drawn_anew_from_the_same_episodes(
    model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    model.always("segment", says(segments(segment(7, "Mira's new job"))))
    model.always("consolidate", says("{}"))
    ana.flush(talk)
    before = [episode.id for episode in live_episodes(ana)]
    model.always("consolidate", says(changes(change("new", "Mira moves to Rotterdam."))))
    learn_again("--tenant", ana.tenant.name)
    drain_jobs()
    assert [episode.id for episode in live_episodes(ana)] == before
    run = Changeset.objects.of(ana.tenant).filter(kind="consolidation").latest("id")
    assert not run.degraded
    active = Fact.objects.of(ana.tenant).filter(invalid_at=None)
    assert [fact.fact for fact in active] == ["Mira moves to Rotterdam."]


def test_nothing_is_taken_back_while_no_model_could_learn(
    model: ModelServer, ana: Agent, talk: uuid.UUID, settings: Settings
) -> None:
    model.always("segment", fails(401))
    ana.flush(talk)
    with pytest.raises(CommandError, match="the key was refused, see OPENAI_API_KEY"):
        learn_again()
    settings.LLM = "offline"
    with pytest.raises(CommandError, match="set MEMORY_LLM"):
        learn_again()
