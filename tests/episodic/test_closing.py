"""A session ends: by a call, or by an hour of silence where somebody is its user."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from episodic.flows import close_silent_conversations
from episodic.models import Conversation, Message
from jobs.draining import drain_jobs
from jobs.models import Job, Kind, State
from tests.api.problems import assert_problem
from tests.conftest import Agent

pytestmark = pytest.mark.django_db
SAID = ["I'm allergic to peanuts.", "I moved from Lisbon to Porto last year."]


def say(agent: Agent, *, user: str | None, minutes_ago: int = 0) -> Conversation:
    talk = str(uuid.uuid4())
    messages = [{"role": "user", "name": "Nora", "content": content} for content in SAID]
    body = {"conversation_id": talk, "user_id": user, "messages": messages}
    assert agent.post("add_messages", body).status_code == 201
    home = Conversation.across_tenants.get(external_id=talk)
    age = Now() - timedelta(minutes=minutes_ago)
    Message.across_tenants.filter(conversation=home).update(received_at=age)
    return home


def count_facts(agent: Agent, home: Conversation) -> int:
    return len(agent.get("facts", conversation_id=str(home.external_id)).json()["items"])


def close_silent() -> None:
    close_silent_conversations(at_most=10)
    assert drain_jobs().dead == 0


def test_a_closed_conversation_is_settled_and_opens_again(ana: Agent, cleo: Agent) -> None:
    home = say(ana, user="nora")
    path = f"conversations/{home.external_id}/close"
    assert_problem(cleo.post(path), 404)
    answer = ana.post(path)
    assert answer.status_code == 202
    assert drain_jobs().dead == 0
    assert ana.get(f"jobs/{answer.json()['job_id']}").json()["state"] == "done"
    assert count_facts(ana, home) == 2
    ana.say(home.external_id, "I have a dog named Rex.")
    assert ana.post(path).status_code == 202
    drain_jobs()
    assert ana.get(f"conversations/{home.external_id}").json()["pending"] == 0


def test_an_hour_of_silence_closes_the_conversation_of_a_user(ana: Agent) -> None:
    silent, open_one = say(ana, user="nora", minutes_ago=61), say(ana, user="nora", minutes_ago=59)
    nobodys = say(ana, user=None, minutes_ago=61)
    close_silent()
    assert [count_facts(ana, home) for home in (silent, open_one, nobodys)] == [2, 0, 0]


def test_the_setting_says_after_how_long_and_whether(ana: Agent, settings: Any) -> None:
    home = say(ana, user="nora", minutes_ago=61)
    for minutes in (0, 90):
        settings.CLOSE_AFTER_MINUTES = minutes
        close_silent()
        assert count_facts(ana, home) == 0
    settings.CLOSE_AFTER_MINUTES = 30
    close_silent()
    assert count_facts(ana, home) == 2


def test_one_that_is_being_settled_or_waits_for_people_is_left_alone(ana: Agent) -> None:
    home = say(ana, user="nora", minutes_ago=61)
    jobs = Job.across_tenants.filter(kind=Kind.FLUSH, scope=home.id)
    close_silent_conversations(at_most=10)
    close_silent_conversations(at_most=10)
    assert jobs.count() == 1
    jobs.update(state=State.DEAD)
    close_silent_conversations(at_most=10)
    assert jobs.count() == 1
