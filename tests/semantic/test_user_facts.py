"""Facts of all conversations of a user are one knowledge: repeats are evidence of one fact."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections

from episodic import moving
from episodic.models import Conversation, Message
from indexing.models import SearchUnit, SearchVector
from jobs.models import Job, Kind, State
from jobs.tasks import run_job
from memoryproject.database.clock import read_database_clock
from memoryproject.tenancy.walls import across_tenants
from semantic import curation
from semantic.beliefs import facts_believed_at
from semantic.corrections import correct_fact
from semantic.models import CorrectionMark, Evidence, Fact, Suggestion
from semantic.reverts import revert_changeset
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.semantic.learning import (
    Talk,
    Wishes,
    act,
    confirm,
    contradicts,
    counting_evidence,
    end,
    new,
    repeats,
    replace,
    steps,
)
from tests.semantic.test_curation import served
from wings.suggestions import suggestions

pytestmark = pytest.mark.django_db

GHENT = "Mira lives in Ghent."
ROTTERDAM = "Mira lives in Rotterdam."
PIANO = "Mira owns a very heavy piano."
WEEK = timedelta(days=7)


@pytest.fixture
def first(ana: Agent) -> Talk:
    return Talk(ana, user_id="mira")


@pytest.fixture
def second(ana: Agent) -> Talk:
    return Talk(ana, user_id="mira", later=WEEK)


def active(agent: Agent) -> list[Fact]:
    return list(Fact.objects.of(agent.tenant).filter(invalid_at=None).order_by("id"))


def sentences(agent: Agent) -> list[str]:
    return [fact.fact for fact in active(agent)]


def homes_of_units(fact: Fact) -> set[Any]:
    """Return the conversations in which a fact's units are, and check that vectors go along."""
    units = SearchUnit.objects.of(fact.tenant).filter(memory=fact.id)
    vectors = SearchVector.objects.of(fact.tenant).filter(memory=fact.id)
    homes = sorted(units.values_list("conversation_id", flat=True))
    assert homes == sorted(vectors.values_list("conversation_id", flat=True))
    assert len(set(homes)) == len(homes)
    return set(homes)


def pairs(agent: Agent) -> list[tuple[str, str | None, str]]:
    rows = Suggestion.objects.of(agent.tenant).select_related("old_fact", "new_fact")
    return [
        (row.old_fact.fact, row.new_fact and row.new_fact.fact, row.reason)
        for row in rows.order_by("id")
    ]


def test_a_repeat_in_another_conversation_becomes_evidence(first: Talk, second: Talk) -> None:
    first.learn(new(GHENT))
    run = second.learn(new(GHENT), new(PIANO))
    assert steps(run) == [("merge", ""), ("new", "")]
    ghent = first.fact(GHENT)
    assert sentences(first.agent) == [GHENT, PIANO]
    rows = Evidence.objects.of(ghent.tenant).filter(fact=ghent).order_by("id")
    assert [row.conversation_id for row in rows] == [None, second.row().id]
    assert homes_of_units(ghent) == {first.row().id, second.row().id}


@pytest.mark.parametrize(("one", "other"), [("", ""), ("mira", "jonas"), ("mira", "")])
def test_only_conversations_of_the_same_user_share(ana: Agent, one: str, other: str) -> None:
    here, there = Talk(ana, user_id=one), Talk(ana, user_id=other)
    here.learn(new(GHENT))
    assert steps(there.learn(confirm(GHENT))) == [("new", "unknown_alias")]
    assert sentences(ana) == [GHENT, GHENT]
    assert not Evidence.objects.of(ana.tenant).exclude(conversation=None).exists()
    assert homes_of_units(here.fact(GHENT)) == {here.row().id}


def test_an_engine_is_shown_what_other_conversations_know(first: Talk, second: Talk) -> None:
    first.learn(new(GHENT))
    assert steps(second.learn(confirm(GHENT))) == [("reinforce", "")]
    assert counting_evidence(first.fact(GHENT)) == 2


def test_what_only_another_conversation_says_is_not_ended(first: Talk, second: Talk) -> None:
    first.learn(new(GHENT), new(PIANO))
    run = second.learn(replace(GHENT, ROTTERDAM), end(PIANO))
    assert [step for step in steps(run) if step[0] != "suggest"] == [("new", "elsewhere")]
    assert sentences(first.agent) == [GHENT, PIANO, ROTTERDAM]
    assert pairs(first.agent) == [(GHENT, ROTTERDAM, "elsewhere"), (PIANO, None, "elsewhere")]


def test_the_order_is_that_of_what_was_said(first: Talk, second: Talk) -> None:
    second.learn(new(ROTTERDAM), new(PIANO))
    run = first.learn(replace(ROTTERDAM, GHENT), end(PIANO))
    assert ("skip", "said_since") in steps(run)
    assert pairs(first.agent) == [(GHENT, ROTTERDAM, "elsewhere")]


def test_a_hint_of_an_engine_follows_the_order_of_what_was_said(first: Talk, second: Talk) -> None:
    second.learn(new(ROTTERDAM))
    first.learn(new(GHENT), hints=[contradicts(ROTTERDAM, GHENT), repeats(ROTTERDAM, GHENT)])
    assert [pair[:2] for pair in pairs(first.agent)] == [(GHENT, ROTTERDAM)] * 2


def test_what_a_conversation_has_said_itself_it_may_end_everywhere(
    first: Talk, second: Talk
) -> None:
    first.learn(new(GHENT))
    second.learn(confirm(GHENT))
    second.learn(replace(GHENT, ROTTERDAM))
    ghent = first.fact(GHENT)
    assert ghent.superseded_by == second.fact(ROTTERDAM) and pairs(first.agent) == []
    assert GHENT not in served(first, "Where does Mira live?")
    assert ROTTERDAM in served(second, "Where does Mira live?")


def test_what_another_conversation_has_said_since_is_not_ended(first: Talk, second: Talk) -> None:
    first.learn(new(GHENT))
    second.learn(confirm(GHENT))
    first.learn(replace(GHENT, ROTTERDAM))
    assert sentences(first.agent) == [GHENT, ROTTERDAM]
    assert pairs(first.agent) == [(ROTTERDAM, GHENT, "elsewhere")]


def test_a_curator_accepts_an_ending_across_conversations(first: Talk, second: Talk) -> None:
    first.learn(new(GHENT))
    second.learn(replace(GHENT, ROTTERDAM))
    (row,) = Suggestion.objects.of(first.agent.tenant)
    decided = suggestions.accept_suggestion(act=act(first.agent), suggestion_id=row.id)
    assert sentences(first.agent) == [ROTTERDAM]
    revert_changeset(act=act(first.agent), changeset_id=decided.decided_by_id)
    row.refresh_from_db()
    assert sentences(first.agent) == [GHENT, ROTTERDAM] and row.is_open


def test_what_was_declared_wrong_is_learnt_in_no_conversation(first: Talk, second: Talk) -> None:
    first.learn(new(GHENT))
    curation.invalidate_facts(
        act=act(first.agent), fact_ids=[first.fact(GHENT).id], because=Fact.Because.WRONG
    )
    assert steps(second.learn(new(GHENT))) == [("skip", "declared_wrong")]


def test_a_conversation_sees_what_it_has_evidence_of(first: Talk, second: Talk) -> None:
    first.learn(new(GHENT), new(PIANO))
    second.learn(confirm(GHENT))
    here, there = first.row(), second.row()
    for talk, home, known in ((first, here, {GHENT, PIANO}), (second, there, {GHENT})):
        facts = served(talk, "Where does Mira live?")
        assert set(facts) == known
        rows = Evidence.objects.of(home.tenant).filter(episode__conversation=home)
        own = [str(row.episode_id) for row in rows.filter(fact__fact=GHENT)]
        assert facts[GHENT]["source_episodic_ids"] == own


def test_a_reverted_repeat_leaves_the_fact_with_the_other_evidence(
    first: Talk, second: Talk
) -> None:
    first.learn(new(GHENT))
    run = second.learn(confirm(GHENT))
    undo = revert_changeset(act=act(first.agent), changeset_id=run.id)
    ghent = first.fact(GHENT)
    assert sentences(first.agent) == [GHENT] and counting_evidence(ghent) == 1
    assert homes_of_units(ghent) == {first.row().id}
    revert_changeset(act=act(first.agent), changeset_id=undo.id)
    assert counting_evidence(ghent) == 2
    assert homes_of_units(ghent) == {first.row().id, second.row().id}


def test_what_its_own_conversation_no_longer_says_is_drawn_anew_elsewhere(
    first: Talk, second: Talk
) -> None:
    run = first.learn(new(GHENT))
    second.learn(confirm(GHENT))
    revert_changeset(act=act(first.agent), changeset_id=run.id)
    assert sentences(first.agent) == []
    second.draw_again(new(GHENT))
    (ghent,) = active(first.agent)
    assert ghent.conversation == second.row() and counting_evidence(ghent) == 1


def test_a_correction_marks_what_other_conversations_say(first: Talk, second: Talk) -> None:
    first.learn(new(PIANO))
    second.learn(confirm(PIANO))
    correct_fact(
        act=act(first.agent), fact_id=first.fact(PIANO).id, sentence="Mira owns a very light piano."
    )
    evidence = Evidence.objects.of(first.agent.tenant).filter(fact__fact=PIANO)
    assert evidence.count() == 2
    marks = CorrectionMark.objects.of(first.agent.tenant).filter(place="message")
    homes = {mark.place_id for mark in marks}
    marked = Message.objects.of(first.agent.tenant).filter(id__in=homes)
    assert {row.conversation_id for row in marked} == {first.row().id, second.row().id}
    assert second.row().has_corrections


@pytest.mark.django_db(transaction=True)
def test_two_runs_of_a_user_that_say_the_same_open_one_fact(ana: Agent) -> None:
    """Both have read that nobody knows it; each waits for the other before it looks again."""
    talks = [Talk(ana, user_id="mira", later=WEEK * place) for place in range(4)]
    for talk in talks:
        talk.say()
        Job.objects.of(ana.tenant).update(lane=None)  # as if its lease had ended: the next may run
    barrier = threading.Barrier(len(talks), timeout=60)
    failures: list[BaseException] = []

    def work(talk: Talk) -> None:
        try:
            with across_tenants():
                talk.draw(Wishes([new(GHENT)], meanwhile=barrier.wait))
        except BaseException as error:
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=[talk]) for talk in talks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []
    (ghent,) = active(ana)
    assert counting_evidence(ghent) == len(talks)
    assert homes_of_units(ghent) == set(
        Conversation.objects.of(ana.tenant).values_list("id", flat=True)
    )


def test_a_guideline_reaches_the_conversations_that_have_evidence_of_it(
    first: Talk, second: Talk
) -> None:
    rule = "Always answer Mira in bullet points."
    first.learn(new(rule))
    second.learn(confirm(rule))
    third = Talk(first.agent, user_id="mira")
    third.learn(new(PIANO))
    Fact.objects.of(first.agent.tenant).filter(fact=rule).update(category="guideline")
    for talk, expected in ((first, True), (second, True), (third, False)):
        body = {"conversation_id": str(talk.id), "query": "Suggest a dessert.", "max_tokens": 500}
        answer = talk.agent.post("retrieve_memory", body)
        assert (rule in answer.content.decode()) is expected


def give(talk: Talk, user_id: str) -> None:
    """Make a conversation another user's."""
    answer = talk.agent.post(f"conversations/{talk.id}/user", {"user_id": user_id})
    assert answer.status_code == 202, answer.content
    job = Job.objects.of(talk.agent.tenant).get(kind=Kind.MOVE, state=State.READY)
    assert run_job(str(job.id))
    assert talk.row().user_id == user_id


def test_a_conversation_that_becomes_another_user_s_shares_no_fact(
    first: Talk, second: Talk
) -> None:
    first.learn(new(GHENT), new(PIANO))
    second.learn(confirm(GHENT), new(ROTTERDAM))
    first.learn(confirm(ROTTERDAM))
    give(second, "jonas")
    assert sentences(first.agent) == [GHENT, PIANO, ROTTERDAM]
    for fact in active(first.agent):
        assert homes_of_units(fact) == {fact.conversation_id} and counting_evidence(fact) == 1
    second.draw_again(new(GHENT))
    first.draw_again(new(ROTTERDAM))
    known = [(fact.fact, fact.conversation.user_id) for fact in active(first.agent)]
    assert sorted(known) == [
        (GHENT, "jonas"),
        (GHENT, "mira"),
        (ROTTERDAM, "jonas"),
        (ROTTERDAM, "mira"),
        (PIANO, "mira"),
    ]


def test_an_ending_by_a_conversation_that_becomes_another_user_s_is_undone(
    first: Talk, second: Talk
) -> None:
    first.learn(new(GHENT))
    second.learn(confirm(GHENT))
    second.learn(replace(GHENT, ROTTERDAM))
    assert sentences(first.agent) == [ROTTERDAM]
    give(second, "jonas")
    assert sentences(first.agent) == [GHENT, ROTTERDAM]
    assert first.fact(GHENT).superseded_by is None


def test_what_was_suggested_of_both_users_goes(first: Talk, second: Talk) -> None:
    first.learn(new(GHENT))
    second.learn(replace(GHENT, ROTTERDAM))
    assert pairs(first.agent) == [(GHENT, ROTTERDAM, "elsewhere")]
    give(second, "jonas")
    assert pairs(first.agent) == []


@pytest.mark.django_db(transaction=True)
def test_a_moment_shows_what_a_conversation_had_evidence_of(first: Talk, second: Talk) -> None:
    first.learn(new(GHENT), new(PIANO))
    second.learn(confirm(GHENT))
    known_at = read_database_clock()
    second.learn(replace(GHENT, ROTTERDAM))
    tenant = first.agent.tenant
    for talk, then in ((first, {GHENT, PIANO}), (second, {GHENT})):
        ids = facts_believed_at(tenant=tenant, known_at=known_at, homes=[talk.row().id])
        believed = Fact.objects.of(tenant).filter(id__in=ids)
        assert set(believed.values_list("fact", flat=True)) == then


def test_a_copy_stays_under_its_conversation_as_that_is_moved_to_its_user(
    first: Talk, second: Talk
) -> None:
    first.learn(new(GHENT))
    second.learn(confirm(GHENT), new(PIANO))
    for table in (SearchUnit, SearchVector):  # as an upgrade finds them
        table.objects.of(first.agent.tenant).update(user_scope=None)
    Conversation.objects.of(first.agent.tenant).update(in_user_scope=False)
    moving.queue_moves(at_most=10)
    for job in Job.objects.of(first.agent.tenant).filter(kind=Kind.MOVE, state=State.READY):
        assert run_job(str(job.id))
    units = SearchUnit.objects.of(first.agent.tenant).filter(shelf="fact", user_scope=None)
    assert list(units.values_list("memory", "conversation")) == [
        (first.fact(GHENT).id, second.row().id)
    ]
