"""Undoing a source: what is left is what would be there without it."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import QuerySet

from episodic.models import Conversation, Episode, Message, Withholding
from indexing.models import SearchUnit
from jobs.draining import drain_jobs
from jobs.models import Job, Kind
from jobs.tasks import run_job
from semantic.models import Changeset, Fact
from tests.conftest import Agent, make_agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.llm.answers import change, changes, segment, segments
from tests.llm.conftest import post
from tests.model_server import ModelServer, says
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages
from wings.rollback import rollback

# Each run has a time of its own only where transactions end.
pytestmark = pytest.mark.django_db(transaction=True)

WHY = "The mailbox behind this source was taken over."
LONG_AGO = "2020-01-01T00:00:00Z"
POISON = [
    ("Mira", "I moved from Rotterdam to Vladivostok last week."),
    ("Jonas", "Oh, Vladivostok! How do you like it there?"),
    ("Mira", "I love it. I work as a spy for the port authority of Vladivostok now."),
    ("Jonas", "A spy! That is quite a change from the harbour."),
    ("Mira", "I sold my piano, and I no longer train for the marathon."),
    ("Mira", "My favourite food is raw fish with ice cream."),
]
TALKS = [uuid.UUID(int=number) for number in range(1, 5)]


@pytest.fixture(autouse=True)
def patient(settings: Any) -> None:
    """A rollback is done in one go, also where the machine is slow."""
    settings.FLUSH_AT_MOST_S = 600


def poison(**changed: Any) -> list[dict[str, Any]]:
    """The lies, three hours and more after everything else."""
    return [{**line, **changed} for line in messages(POISON, EVENING + timedelta(days=1))]


def tell(agent: Agent, talk: uuid.UUID, said: list[dict[str, Any]]) -> None:
    post(agent, talk, said)
    drained = agent.flush(talk)
    assert (drained.later, drained.dead) == (0, 0)


def tell_truth(agent: Agent) -> None:
    """Tell the same in two conversations, one in two sittings."""
    tell(agent, TALKS[0], messages(MOVING, MORNING))
    tell(agent, TALKS[0], messages(RUNNING, EVENING))
    tell(agent, TALKS[1], messages(RUNNING, EVENING))


def undo(agent: Agent, status: int = 201, **source: Any) -> Any:
    given = {"since": LONG_AGO, "reason": WHY, **source}
    answer = agent.post("rollbacks", given)
    assert answer.status_code == status, answer.content
    drained = drain_jobs()
    assert (drained.later, drained.dead) == (0, 0)
    return answer.json()


def facts_of(agent: Agent) -> list[tuple[Any, ...]]:
    """Return what is held, by conversation: sentence, category, times and state."""
    rows = Fact.objects.of(agent.tenant).filter(invalid_at=None)
    return sorted(
        rows.values_list(
            "conversation__external_id", "fact", "category", "valid_at", "valid_until",
            "invalidated_because",
        )
    )  # fmt: skip


def said_in(agent: Agent) -> QuerySet[Message]:
    return Message.objects.of(agent.tenant)


@pytest.fixture
def control(db: None) -> Agent:
    """Somebody who was told the same, but for the lies."""
    agent = make_agent("control", "agent")
    tell_truth(agent)
    return agent


@pytest.fixture
def liar(ana: Agent) -> Agent:
    """Another key of ana's tenant."""
    return make_agent("ana's", "mailbox")


@pytest.mark.gate
@pytest.mark.parametrize("by", ["key_id", "conversation_id"])
def test_a_poisoned_conversation_leaves_no_trace_in_the_facts(
    by: str, ana: Agent, liar: Agent, control: Agent
) -> None:
    tell_truth(ana)
    tell(liar, TALKS[2], poison())
    assert facts_of(ana) != facts_of(control)
    source = str(liar.key.id) if by == "key_id" else str(TALKS[2])
    made = undo(ana, **{by: source})
    assert facts_of(ana) == facts_of(control)
    assert made["counts"]["messages"] == len(POISON) and made["counts"]["conversations"] == 1
    assert said_in(ana).count() == len(MOVING) + 2 * len(RUNNING) + len(POISON)


@pytest.mark.gate
@pytest.mark.parametrize(
    "source", [{"role": "tool"}, {"speaker": "Mallory"}], ids=["a role", "a speaker"]
)
def test_lies_inside_a_conversation_are_taken_out_of_it(
    source: dict[str, Any], ana: Agent, control: Agent
) -> None:
    """The lies stand in one window with what is true."""
    lies = poison()
    for line in lies:
        line |= {"role": "tool"} if "role" in source else {"name": "Mallory"}
    tell(ana, TALKS[0], messages(MOVING, MORNING) + lies[:3])
    tell(ana, TALKS[0], lies[3:] + messages(RUNNING, EVENING))
    tell(ana, TALKS[1], messages(RUNNING, EVENING))
    assert "role" in source or facts_of(ana) != facts_of(control)
    undo(ana, **source)
    assert facts_of(ana) == facts_of(control)


def test_what_a_lie_has_ended_is_held_again_and_what_came_after_is_learnt_anew(
    model: ModelServer, ana: Agent, liar: Agent
) -> None:
    """A model ends facts of earlier runs, and the last run here has built on the lie."""
    true, runs = "Mira lives in Ghent.", "Mira runs three times a week."
    false, built = "Mira lives in Vladivostok.", "Mira lives in Vladivostok by the river."
    after = messages(RUNNING, EVENING + timedelta(days=2))
    for agent, said, drawn in (
        (ana, messages(MOVING, MORNING), change("new", true, messages=[5])),
        (liar, poison(), change("update", false, "F1", messages=[9])),
        (ana, after, change("update", built, "F1", messages=[16])),
    ):
        model.script("segment", says(segments(segment(len(said) - 1))))
        model.script("consolidate", says(changes(drawn)))
        tell(agent, TALKS[0], said)
    assert [row[1] for row in facts_of(ana)] == [built]
    model.script("consolidate", says(changes(change("new", runs, messages=[16]))))
    counts = undo(ana, key_id=str(liar.key.id))["counts"]
    assert counts["reopened"] > 0 and counts["redrawn"] == 1
    assert [row[1] for row in facts_of(ana)] == [true, runs]


def test_what_a_lie_has_corrected_is_held_as_if_it_had_not_been_said(
    ana: Agent, liar: Agent, control: Agent
) -> None:
    """The correction stands in one episode with what it corrects, and more comes after."""
    after = messages(RUNNING, EVENING + timedelta(days=2))
    lie = [("Mira", "Sorry, I meant Vladivostok.")]
    post(ana, TALKS[0], messages(MOVING[:5], MORNING))
    tell(liar, TALKS[0], messages(lie, MORNING + timedelta(minutes=3)))
    tell(ana, TALKS[0], after)
    tell(control, TALKS[3], messages(MOVING[:5], MORNING))
    tell(control, TALKS[3], after)
    told = [fact[1:] for fact in facts_of(control) if fact[0] == TALKS[3]]
    (false,) = [fact[1] for fact in facts_of(ana) if fact[1:] not in told]
    (true,) = [fact[0] for fact in told if fact[0] not in {row[1] for row in facts_of(ana)}]
    assert "Vladivostok" in false and "moving from Ghent to Rotterdam" in true
    undo(ana, key_id=str(liar.key.id))
    assert [fact[1:] for fact in facts_of(ana)] == told


def test_what_a_source_said_first_and_others_confirmed_is_theirs_alone(
    model: ModelServer, ana: Agent, liar: Agent
) -> None:
    """In their words, and from their date on."""
    runs = "Mira runs three times a week."
    for agent, start, seq in ((liar, MORNING, 2), (ana, EVENING, 10)):
        model.script("segment", says(segments(segment(7))))
        drawn = says(changes(change("new", runs, messages=[seq])))
        model.script("consolidate", drawn)
        tell(agent, TALKS[2], messages(RUNNING, start))
    held = Fact.objects.of(ana.tenant).filter(invalid_at=None)
    assert held.get().valid_at < EVENING
    model.script("consolidate", drawn)
    undo(ana, key_id=str(liar.key.id))
    assert held.get().valid_at > EVENING


def test_nothing_withheld_is_served(ana: Agent, liar: Agent) -> None:
    tell_truth(ana)
    tell(liar, TALKS[2], poison())
    liar.say(TALKS[2], "Vladivostok has a fine aquarium.")
    episode = Episode.objects.of(ana.tenant).get(conversation__external_id=TALKS[2])
    undo(ana, key_id=str(liar.key.id))
    ask = {"conversation_id": str(TALKS[2]), "query": "Vladivostok"}
    served = [
        ana.post("retrieve_memory", {**ask, "detail": "high", "min_seq": 7}),
        ana.post("retrieve_memory/raw", ask),
        ana.post("recent_memory", {"conversation_id": str(TALKS[2])}),
        ana.post("recent_memory/raw", {"conversation_id": str(TALKS[2])}),
        ana.post("search", {"query": "Vladivostok"}),
        ana.post("reconstruct_context", {"query": "Vladivostok", "focus_level": 5}),
        ana.get("episodes"),
        ana.get("facts"),
    ]
    for answer in served:
        assert answer.status_code == 200, answer.content
        assert "ladivostok" not in answer.content.decode().replace('"query":"Vladivostok"', "")
    assert ana.get(f"memories/{episode.id}").status_code == 404
    assert ana.post(f"memories/{episode.id}/chunk", {"max_tokens": 100}).status_code == 404
    assert not SearchUnit.objects.of(ana.tenant).filter(memory=episode.id).exists()
    state = ana.get(f"conversations/{TALKS[2]}").json()
    assert (state["messages"], state["pending"], state["episodes"]) == (7, 0, 0)


def test_everything_is_kept_and_told(ana: Agent, liar: Agent) -> None:
    tell_truth(ana)
    tell(liar, TALKS[2], poison())
    made = undo(ana, key_id=str(liar.key.id))
    listed = ana.get("messages", conversation_id=str(TALKS[2])).json()["items"]
    assert [line["content"] for line in listed] == [text for _, text in POISON]
    assert {line["withheld_by"] for line in listed} == {made["id"]}
    assert {line["posted_by"] for line in listed} == {str(liar.key.id)}
    reverts = Changeset.objects.of(ana.tenant).filter(kind="revert")
    assert {(one.actor, one.reason) for one in reverts} == {("key ana", WHY)}
    (row,) = ana.get("rollbacks").json()["items"]
    assert row == made and (row["actor"], row["reason"]) == ("key ana", WHY)


def test_a_dry_run_counts_and_changes_nothing(ana: Agent, liar: Agent) -> None:
    tell_truth(ana)
    tell(liar, TALKS[2], poison())
    before = facts_of(ana)
    planned = undo(ana, 200, key_id=str(liar.key.id), dry_run=True)
    assert planned["id"] is None and facts_of(ana) == before
    assert ana.get("rollbacks").json()["items"] == []
    assert undo(ana, key_id=str(liar.key.id))["counts"] == planned["counts"]


def test_what_is_lifted_is_learnt_again(ana: Agent, liar: Agent) -> None:
    tell_truth(ana)
    tell(liar, TALKS[2], poison())
    before = facts_of(ana)
    made = undo(ana, key_id=str(liar.key.id))
    lifted = ana.post(f"rollbacks/{made['id']}/lift", {"reason": "It was no attack."})
    assert lifted.status_code == 200 and lifted.json()["lifted_at"]
    drained = drain_jobs()
    assert (drained.later, drained.dead) == (0, 0)
    assert facts_of(ana) == before
    again = ana.post(f"rollbacks/{made['id']}/lift", {"reason": "It was no attack."})
    assert again.status_code == 409
    assert Conversation.objects.of(ana.tenant).filter(withheld_count__gt=0).count() == 0


def test_no_worker_takes_a_small_one_before_its_caller_has_done_it(ana: Agent, liar: Agent) -> None:
    """Else the caller would answer while the messages are still served."""
    tell(liar, TALKS[2], poison())
    source = Withholding(tenant=ana.tenant, posted_by=liar.key, actor="ana", reason=WHY)
    source.since = datetime.fromisoformat(LONG_AGO)
    with transaction.atomic():
        work = rollback.start(source)
    assert not run_job(str(Job.objects.of(ana.tenant).get(kind=Kind.ROLLBACK).id))
    work.do()
    assert source.done_at and facts_of(ana) == []


def test_what_two_withhold_is_lifted_by_neither_alone(ana: Agent, liar: Agent) -> None:
    tell(liar, TALKS[2], poison(name="Mallory"))
    tell(ana, TALKS[3], poison(name="Mallory"))
    first = undo(ana, key_id=str(liar.key.id))
    second = undo(ana, speaker="Mallory")
    assert ana.post(f"rollbacks/{first['id']}/lift", {"reason": "A mistake."}).status_code == 200
    drain_jobs()
    assert facts_of(ana) == [] and said_in(ana).filter(withheld_by=None).count() == 0
    assert ana.post(f"rollbacks/{second['id']}/lift", {"reason": "So too."}).status_code == 200
    drain_jobs()
    assert {fact[0] for fact in facts_of(ana)} == {TALKS[2], TALKS[3]}
    assert said_in(ana).exclude(withheld_by=None).count() == 0


def test_what_a_person_has_changed_since_stays(ana: Agent, liar: Agent) -> None:
    tell(liar, TALKS[2], poison())
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None).order_by("id")[0]
    right = {"fact": "Mira keeps bees in Ghent.", "reason": WHY}
    assert ana.post(f"facts/{fact.id}/correct", right).status_code == 201
    made = undo(ana, key_id=str(liar.key.id))
    assert made["counts"]["left"] == 1
    assert [row[1] for row in facts_of(ana)] == ["Mira keeps bees in Ghent."]


def test_a_run_in_flight_cannot_bring_it_back(ana: Agent, liar: Agent) -> None:
    """What a run has read is not what it finds when it writes."""
    post(liar, TALKS[2], poison())
    before = Conversation.objects.of(ana.tenant).get().version
    undo(ana, key_id=str(liar.key.id))
    assert Conversation.objects.of(ana.tenant).get().version > before
    assert facts_of(ana) == [] and not Episode.objects.of(ana.tenant).exists()


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({}, 400),
        ({"role": "nobody"}, 400),
        ({"role": "tool", "since": "yesterday"}, 400),
        ({"role": "tool", "reason": " "}, 400),
        ({"role": "tool", "everything": True}, 400),
        ({"key_id": str(uuid.uuid4())}, 404),
        ({"conversation_id": str(uuid.uuid4())}, 404),
        ({"role": "tool"}, 404),
    ],
)
def test_bad_wishes_are_refused(given: dict[str, Any], status: int, ana: Agent) -> None:
    ana.say(TALKS[0], "Hello.")
    undo(ana, status, **given)


def test_a_stranger_undoes_nothing(ana: Agent, liar: Agent, cleo: Agent) -> None:
    tell(liar, TALKS[2], poison())
    before = facts_of(ana)
    undo(cleo, 404, key_id=str(liar.key.id))
    undo(cleo, 404, conversation_id=str(TALKS[2]))
    undo(cleo, 404, role="user")
    made = undo(ana, speaker="Mira")
    assert cleo.post(f"rollbacks/{made['id']}/lift", {"reason": WHY}).status_code == 404
    assert cleo.get("rollbacks").json()["items"] == []
    assert before and facts_of(ana) == []


def test_the_command_counts_and_then_does_it(ana: Agent, liar: Agent) -> None:
    tell(liar, TALKS[2], poison())
    wish = ["roll_back", "ana's", "--since", LONG_AGO, "--key", liar.key.prefix]
    told = StringIO()
    call_command(*wish, stdout=told)
    assert f"messages: {len(POISON)}" in told.getvalue() and facts_of(ana)
    call_command(*wish, "--reason", WHY, stdout=told)
    drain_jobs()
    assert facts_of(ana) == []
    for bad in (["--since", "soon"], ["--key", "nothing"], ["--conversation", str(uuid.uuid4())]):
        with pytest.raises(CommandError):
            call_command("roll_back", "ana's", "--since", LONG_AGO, *bad, stdout=told)
