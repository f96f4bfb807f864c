"""A source that spoke in many conversations is undone one conversation after the other."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from pytest_django import Settings

from episodic.models import Message, Withholding
from jobs.draining import drain_jobs
from jobs.models import Job, Kind, State
from jobs.tasks import run_job
from semantic.models import Fact
from tests.conftest import Agent, make_agent
from tests.fresh import ana as ana
from wings.rollback import rollback

# Each run has a time of its own only where transactions end.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.gate]

WHY = "The key was stolen."
LONG_AGO = "2020-01-01T00:00:00Z"
MANY = rollback.CONVERSATIONS_AT_ONCE + 2
LIE = "I moved to Vladivostok and I own an aquarium there."


@pytest.fixture
def liar(ana: Agent) -> Agent:
    return make_agent("ana's", "liar")


@pytest.fixture
def talks(ana: Agent, liar: Agent) -> list[uuid.UUID]:
    """Conversations in each of which ana and then the liar said something, all learnt."""
    made = [uuid.uuid4() for _ in range(MANY)]
    for talk in made:
        ana.say(talk, "I like liquorice.", name="Mira")
        liar.say(talk, LIE, name="Mira")
        assert ana.post("flush", {"conversation_id": str(talk)}).status_code == 202
    drain_jobs()
    return made


def ask(agent: Agent, liar: Agent, **more: Any) -> Any:
    body = {"since": LONG_AGO, "key_id": str(liar.key.id), "reason": WHY, **more}
    return agent.post("rollbacks", body)


def lies(agent: Agent) -> int:
    held = Fact.objects.of(agent.tenant).filter(invalid_at=None, fact__contains="Vladivostok")
    return held.values("conversation").distinct().count()


def work_off(agent: Agent, *, runs: int) -> None:
    """Do one conversation in each of so many runs."""
    job = Job.objects.of(agent.tenant).filter(kind=Kind.ROLLBACK).latest("created_at", "id")
    for _ in range(runs):
        assert run_job(str(job.id))


def test_a_preview_looks_at_the_first_and_counts_the_rest(
    ana: Agent, liar: Agent, talks: list[uuid.UUID]
) -> None:
    answer = ask(ana, liar, dry_run=True)
    assert answer.status_code == 200
    told = answer.json()
    assert told["counts"]["conversations"] == told["counts"]["messages"] == MANY - 2
    assert told["remaining"] == {"conversations": 2, "messages": 2}
    assert lies(ana) == MANY and not Withholding.objects.of(ana.tenant).exists()


def test_a_worker_does_them_and_tells_how_far_it_is(
    ana: Agent, liar: Agent, talks: list[uuid.UUID]
) -> None:
    answer = ask(ana, liar)
    assert answer.status_code == 202
    made = answer.json()
    assert (made["done_at"], made["counts"]["messages"]) == (None, 0)
    assert made["remaining"] == {"conversations": MANY, "messages": MANY}
    liar.say(talks[0], "I moved to Vladivostok again.", name="Mira")
    drained = drain_jobs()
    assert (drained.later, drained.dead) == (0, 0)
    done = ana.get(f"rollbacks/{made['id']}").json()
    assert done["done_at"] and done["remaining"] == {"conversations": 0, "messages": 0}
    assert done["counts"]["conversations"] == done["counts"]["messages"] == MANY
    assert lies(ana) == 1, "what was said after it was asked for stays"
    assert Fact.objects.of(ana.tenant).filter(invalid_at=None).count() >= MANY


def test_a_run_that_is_broken_off_is_gone_on_with(
    ana: Agent, liar: Agent, talks: list[uuid.UUID], settings: Settings
) -> None:
    made = ask(ana, liar).json()
    settings.FLUSH_AT_MOST_S = 0
    work_off(ana, runs=3)
    told = ana.get(f"rollbacks/{made['id']}").json()
    assert (told["done_at"], told["counts"]["messages"], lies(ana)) == (None, 3, MANY - 3)
    assert told["remaining"] == {"conversations": MANY - 3, "messages": MANY - 3}
    settings.FLUSH_AT_MOST_S = 60
    drain_jobs()
    assert ana.get(f"rollbacks/{made['id']}").json()["counts"]["messages"] == MANY
    assert lies(ana) == 0


def test_lifting_one_that_is_not_done_lets_all_count_again(
    ana: Agent, liar: Agent, talks: list[uuid.UUID], settings: Settings
) -> None:
    made = ask(ana, liar).json()
    settings.FLUSH_AT_MOST_S = 0
    work_off(ana, runs=3)
    withheld = Message.objects.of(ana.tenant).exclude(withheld_by=None)
    assert withheld.count() == 3
    lifted = ana.post(f"rollbacks/{made['id']}/lift", {"reason": "It was no attack."})
    assert lifted.status_code == 202 and lifted.json()["lifted_at"]
    settings.FLUSH_AT_MOST_S = 60
    drain_jobs()
    done = ana.get(f"rollbacks/{made['id']}").json()
    assert done["done_at"] and done["remaining"] == {"conversations": 0, "messages": 0}
    assert lies(ana) == MANY and not withheld.exists()
    states = Job.objects.of(ana.tenant).filter(kind=Kind.ROLLBACK).values_list("state", flat=True)
    assert set(states) == {State.DONE}


def erase(agent: Agent, *messages: Message) -> None:
    for message in messages:
        body = {"scope": "message", "id": str(message.id), "reason": "Asked for."}
        assert agent.post("erasures", body).status_code == 200


def test_erasing_what_is_withheld_already_leaves_the_rest_to_be_undone(
    ana: Agent, liar: Agent, talks: list[uuid.UUID], settings: Settings
) -> None:
    made = ask(ana, liar).json()
    settings.FLUSH_AT_MOST_S = 0
    work_off(ana, runs=1)
    settings.FLUSH_AT_MOST_S = 60
    erase(ana, Message.objects.of(ana.tenant).exclude(withheld_by=None).get())
    drain_jobs()
    done = ana.get(f"rollbacks/{made['id']}").json()
    assert done["done_at"] and done["counts"]["messages"] == MANY
    assert lies(ana) == 0


def test_a_source_whose_name_is_erased_does_not_become_everybody(
    ana: Agent, liar: Agent, talks: list[uuid.UUID]
) -> None:
    for talk in talks:
        liar.say(talk, "Believe me.", name="Forger")
    body = {"since": LONG_AGO, "speaker": "Forger", "reason": WHY}
    made = ana.post("rollbacks", body).json()
    erase(ana, *Message.objects.of(ana.tenant).filter(name="Forger"))
    drain_jobs()
    done = ana.get(f"rollbacks/{made['id']}").json()
    assert done["done_at"] and done["counts"]["messages"] == 0 and done["speaker"] is None
    assert not Message.objects.of(ana.tenant).exclude(withheld_by=None).exists()
    assert lies(ana) == MANY
