"""Facts that an older offline engine made are made anew, and what people touched stays."""

from __future__ import annotations

import uuid
from io import StringIO

import pytest
from django.core.management import call_command

from jobs.draining import drain_jobs
from semantic import curation
from semantic.curation import Act
from semantic.models import Fact
from semantic.offline import consolidator
from tests.conftest import Agent

pytestmark = pytest.mark.django_db
HOME, JOB = 'Bo: "I live in Lisbon with my sister."', 'Bo: "I work as a nurse in a hospital."'


def learn_again(*options: str) -> str:
    out = StringIO()
    call_command("learn_again", "--offline", *options, stdout=out)
    return out.getvalue()


def active_facts(agent: Agent) -> dict[str, Fact]:
    return {fact.fact: fact for fact in Fact.objects.of(agent.tenant).filter(invalid_at=None)}


def test_facts_of_an_older_engine_are_made_anew(
    ana: Agent, conversation: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consolidator, "MODEL", "")  # as an engine before the heads left it
    ana.say(conversation, "I live in Lisbon with my sister.", name="Bo")
    ana.say(conversation, "I work as a nurse in a hospital.", name="Bo")
    ana.flush(conversation)
    before = active_facts(ana)
    assert set(before) == {HOME, JOB}
    act = Act(ana.tenant, "cleo", "It was a joke.")
    curation.invalidate_facts(act=act, fact_ids=[before[JOB].id], because=Fact.Because.WRONG)
    monkeypatch.undo()
    assert "1 conversations to learn again" in learn_again("--count")
    assert "1 conversations being learnt again" in learn_again()
    drain_jobs()

    after = active_facts(ana)
    assert set(after) == {HOME} and after[HOME].id != before[HOME].id
    assert "0 conversations to learn again" in learn_again("--count")
