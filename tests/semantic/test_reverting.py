"""Changesets are undone by others, in any order, and what is in the way is named."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections

from memoryproject.edge.errors import Conflict, NotFound, Problem
from memoryproject.tenancy.walls import across_tenants
from semantic import curation
from semantic.engines import Category
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.reverts import Verdict, find_revert, plan_revert, revert_changeset
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.semantic.learning import (
    Talk,
    act,
    confirm,
    counting_evidence,
    end,
    new,
    replace,
    steps,
)
from tests.semantic.test_curation import correct, declare, restore, served, shelf

pytestmark = pytest.mark.django_db

BAKERY = "Mira works at a bakery in Ghent."
HARBOUR = "Mira works at the harbour authority in Rotterdam."
RETIRED = "Mira has retired."
PIANO = "Mira owns a very heavy piano."
TOE = "Jonas broke his toe."


@pytest.fixture
def talk(ana: Agent) -> Talk:
    return Talk(ana)


def revert(changeset: Changeset, **more: Any) -> Changeset:
    made = curation.Act(tenant=changeset.tenant, actor="lin", reason="It was a mistake.")
    return revert_changeset(act=made, changeset_id=changeset.id, **more)


def verdicts(changeset: Changeset) -> list[tuple[str, Verdict]]:
    plan = plan_revert(tenant=changeset.tenant, changeset_id=changeset.id)
    return [(step.fact.fact, step.verdict) for step in plan.steps]


def test_a_run_is_undone_as_if_it_had_not_been(talk: Talk) -> None:
    talk.learn(new(BAKERY), new(TOE))
    before = (talk.held(), shelf(talk))
    run = talk.learn(replace(BAKERY, HARBOUR), end(TOE), new(PIANO))
    assert verdicts(run) == [
        (PIANO, Verdict.CLOSE),
        (TOE, Verdict.REOPEN),
        (HARBOUR, Verdict.CLOSE),
        (BAKERY, Verdict.REOPEN),
    ]
    undo = revert(run)
    assert (undo.kind, undo.reverts, undo.actor) == ("revert", run, "lin")
    assert (talk.held(), shelf(talk)) == before
    bakery = talk.fact(BAKERY)
    assert (bakery.superseded_by_id, bakery.valid_until, bakery.invalid_at) == (None,) * 3
    harbour = talk.fact(HARBOUR)
    assert harbour.invalidated_because == "reverted" and harbour.valid_until == harbour.valid_at
    assert counting_evidence(harbour) == 1, "it explains what was believed"
    assert set(served(talk, "Where does Mira work?")) == {BAKERY, TOE}
    assert set(served(talk, "Where does Mira work?", as_of="2026-06-01T00:00:00Z")) == {BAKERY, TOE}
    assert find_revert(run) == undo


def test_what_a_revert_has_closed_may_be_learnt_again(talk: Talk) -> None:
    revert(talk.learn(new(PIANO)))
    assert steps(talk.learn(new(PIANO))) == [("new", "")]


def test_a_revert_is_undone_and_redone(talk: Talk) -> None:
    first = talk.learn(new(BAKERY))
    run = talk.learn(replace(BAKERY, HARBOUR), new(PIANO))
    kept = talk.fact(BAKERY).valid_until
    undo = revert(run)
    redo = revert(undo)
    assert talk.held() == {HARBOUR, PIANO}
    bakery = talk.fact(BAKERY)
    assert (bakery.invalidated_because, bakery.superseded_by) == ("superseded", talk.fact(HARBOUR))
    assert bakery.valid_until == kept
    assert find_revert(run) is None and find_revert(undo) == redo
    again = revert(run)
    assert talk.held() == {BAKERY} and find_revert(run) == again
    with pytest.raises(Conflict, match="reverted it already"):
        revert(run)
    assert verdicts(redo) == [], "its target is undone by another by now"
    revert(first)
    assert talk.held() == set()


def test_acts_of_curation_are_undone(talk: Talk) -> None:
    talk.learn(new(BAKERY), new(PIANO))
    over = declare(talk, PIANO, Fact.Because.SUPERSEDED)
    revert(over)
    assert talk.held() == {BAKERY, PIANO}
    wrong = declare(talk, PIANO)
    closed_at = talk.fact(PIANO).valid_until
    back = restore(talk, PIANO)
    revert(back)
    piano = talk.fact(PIANO)
    assert (piano.invalidated_because, piano.valid_until) == ("wrong", closed_at)
    assert steps(talk.learn(new(PIANO))) == [("skip", "declared_wrong")]
    revert(wrong)
    assert talk.held() == {BAKERY, PIANO}


def test_an_undone_correction_leaves_both_sentences_free(talk: Talk) -> None:
    talk.learn(new(BAKERY))
    correction = correct(talk, BAKERY, HARBOUR).changeset
    revert(correction)
    assert talk.held() == {BAKERY}
    assert steps(talk.learn(new(HARBOUR))) == [("new", "")]


def test_a_correction_that_keeps_the_words_is_undone(talk: Talk) -> None:
    talk.learn(new(PIANO))
    first = talk.fact(PIANO)
    correction = correct(talk, PIANO, PIANO, category=Category.INTEREST).changeset
    assert [verdict for _, verdict in verdicts(correction)] == [Verdict.CLOSE, Verdict.REOPEN]
    undo = revert(correction)
    (held,) = Fact.objects.of(talk.agent.tenant).filter(invalid_at=None)
    assert held == first
    revert(undo)
    (held,) = Fact.objects.of(talk.agent.tenant).filter(invalid_at=None)
    assert held.category == "interest"


def test_what_was_changed_since_is_in_the_way_and_named(talk: Talk) -> None:
    first = talk.learn(new(BAKERY), new(PIANO))
    second = talk.learn(replace(BAKERY, HARBOUR))
    third = declare(talk, HARBOUR)
    plan = plan_revert(tenant=talk.agent.tenant, changeset_id=first.id)
    (conflict,) = plan.conflicts
    assert (conflict.fact.fact, conflict.later) == (BAKERY, (second,))
    with pytest.raises(Conflict, match=str(conflict.fact.id)):
        revert(first)
    assert talk.held() == {PIANO}
    (conflict,) = plan_revert(tenant=talk.agent.tenant, changeset_id=second.id).conflicts
    assert (conflict.fact.fact, conflict.later) == (HARBOUR, (third,))
    undo = revert(first, leave_conflicts=True)
    assert steps(undo) == [("invalidate", "reverted"), ("skip", "changed_later")]
    assert talk.held() == set() and talk.fact(HARBOUR).invalidated_because == "wrong"


def test_a_fact_closed_again_by_somebody_else_is_in_the_way(talk: Talk) -> None:
    talk.learn(new(PIANO))
    first = declare(talk, PIANO)
    back = restore(talk, PIANO)
    second = declare(talk, PIANO)
    (conflict,) = plan_revert(tenant=talk.agent.tenant, changeset_id=first.id).conflicts
    assert conflict.later == (back, second)


def test_a_sentence_that_is_held_anew_is_in_the_way(talk: Talk) -> None:
    talk.learn(new(PIANO))
    over = declare(talk, PIANO, Fact.Because.SUPERSEDED)
    talk.learn(new(PIANO))
    assert verdicts(over) == [(PIANO, Verdict.HELD_ANEW)]
    with pytest.raises(Conflict):
        revert(over)
    assert steps(revert(over, leave_conflicts=True)) == [("skip", "held_anew")]
    assert talk.held() == {PIANO}


def test_what_was_changed_since_and_undone_is_not_in_the_way(talk: Talk) -> None:
    first = talk.learn(new(BAKERY))
    second = talk.learn(replace(BAKERY, HARBOUR))
    revert(second)
    assert verdicts(first) == [(BAKERY, Verdict.CLOSE)]
    revert(first)
    assert talk.held() == set()


def test_a_fact_that_later_evidence_supports_is_kept_on_that_evidence(talk: Talk) -> None:
    first = talk.learn(new(PIANO))
    second = talk.learn(confirm(PIANO))
    assert verdicts(first) == [(PIANO, Verdict.KEEP)]
    undo = revert(first)
    assert steps(undo) == [("withdraw", "reverted")]
    fact = talk.fact(PIANO)
    (counting,) = Evidence.objects.of(fact.tenant).filter(fact=fact, withdrawn_by=None)
    assert (counting.changeset, talk.held()) == (second, {PIANO})
    assert verdicts(undo) == [(PIANO, Verdict.SUPPORT)]
    revert(undo)
    assert counting_evidence(fact) == 2


def test_a_fact_without_any_evidence_left_is_closed_and_comes_back(talk: Talk) -> None:
    first, second = talk.learn(new(PIANO)), talk.learn(confirm(PIANO))
    revert(first)
    undo = revert(second)
    assert steps(undo) == [("invalidate", "unsupported")]
    assert talk.held() == set()
    assert verdicts(undo) == [(PIANO, Verdict.REOPEN)]
    revert(undo)
    assert talk.held() == {PIANO} and counting_evidence(talk.fact(PIANO)) == 1


Script = Callable[[Talk], tuple[Changeset, Changeset]]


def opened_and_replaced(talk: Talk) -> tuple[Changeset, Changeset]:
    return talk.learn(new(BAKERY), new(PIANO)), talk.learn(replace(BAKERY, HARBOUR))


def opened_and_confirmed(talk: Talk) -> tuple[Changeset, Changeset]:
    return talk.learn(new(BAKERY), new(PIANO)), talk.learn(confirm(BAKERY), new(HARBOUR))


def opened_and_merged(talk: Talk) -> tuple[Changeset, Changeset]:
    return talk.learn(new(PIANO)), talk.learn(new("Mira owns a really very heavy piano."))


def opened_and_ended(talk: Talk) -> tuple[Changeset, Changeset]:
    return talk.learn(new(BAKERY)), talk.learn(end(BAKERY), new(RETIRED))


def opened_and_corrected(talk: Talk) -> tuple[Changeset, Changeset]:
    first = talk.learn(new(BAKERY))
    return first, correct(talk, BAKERY, HARBOUR).changeset


def declared_and_restored(talk: Talk) -> tuple[Changeset, Changeset]:
    talk.learn(new(BAKERY))
    first = declare(talk, BAKERY)
    second = restore(talk, BAKERY)
    return first, second


@pytest.mark.gate
@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize(
    "script",
    [
        opened_and_replaced,
        opened_and_confirmed,
        opened_and_merged,
        opened_and_ended,
        opened_and_corrected,
        declared_and_restored,
    ],
)
def test_undoing_both_in_any_order_leaves_the_facts_of_who_never_had_them(
    ana: Agent, script: Script, newest_first: bool
) -> None:
    talk, control = Talk(ana), Talk(ana)
    for each in (talk, control):
        each.learn(new(TOE))
    if script is declared_and_restored:
        control.learn(new(BAKERY))
    undone = script(talk)
    for changeset in reversed(undone) if newest_first else undone:
        revert(changeset, leave_conflicts=True)
    assert talk.held() == control.held()
    control_shelf = shelf(control)
    assert shelf(talk)[:2] == control_shelf[:2]
    question = "Where does Mira work?"
    assert set(served(talk, question)) == set(served(control, question))
    for changeset in undone:
        assert find_revert(changeset) is not None


@pytest.mark.parametrize(
    "script", [opened_and_replaced, opened_and_confirmed, opened_and_ended, opened_and_corrected]
)
def test_undoing_both_and_redoing_both_leaves_the_facts_as_they_were(
    talk: Talk, script: Script
) -> None:
    first, second = script(talk)
    facts = Fact.objects.of(talk.agent.tenant).order_by("id")
    columns = ("id", "invalidated_because", "superseded_by", "valid_until")
    as_it_was = list(facts.values_list(*columns))
    evidence = set(_counting(talk))
    undo_second = revert(second)
    undo_first = revert(first)
    assert talk.held() == set()
    revert(undo_first)
    revert(undo_second)
    assert list(facts.values_list(*columns)) == as_it_was
    assert set(_counting(talk)) == evidence


def _counting(talk: Talk) -> list[tuple[Any, Any]]:
    rows = Evidence.objects.of(talk.agent.tenant).filter(withdrawn_by=None)
    return list(rows.values_list("fact", "episode"))


def test_a_replaced_fact_whose_opening_is_undone_does_not_come_back(talk: Talk) -> None:
    first, second = opened_and_replaced(talk)
    revert(first, leave_conflicts=True)
    assert verdicts(second) == [(HARBOUR, Verdict.CLOSE), (BAKERY, Verdict.STAY_CLOSED)]
    revert(second)
    assert talk.held() == set()
    bakery = talk.fact(BAKERY)
    assert (bakery.invalidated_because, bakery.superseded_by) == ("reverted", None)


def test_an_erased_fact_is_in_the_way_of_bringing_it_back(talk: Talk) -> None:
    talk.learn(new(PIANO))
    over = declare(talk, PIANO)
    Fact.objects.of(talk.agent.tenant).filter(fact=PIANO).update(invalidated_because="erased")
    assert verdicts(over) == [(PIANO, Verdict.CHANGED)]
    revert(over, leave_conflicts=True)
    assert talk.fact(PIANO).invalidated_because == "erased"


def test_a_changeset_of_a_stranger_is_not_there(talk: Talk, cleo: Agent) -> None:
    run = talk.learn(new(PIANO))
    with pytest.raises(NotFound):
        plan_revert(tenant=cleo.tenant, changeset_id=run.id)
    with pytest.raises(NotFound):
        revert_changeset(act=act(cleo), changeset_id=run.id)
    assert talk.held() == {PIANO}


@pytest.mark.parametrize("reason", ["", " \n", "x" * 2_001])
def test_a_revert_says_why(talk: Talk, reason: str) -> None:
    run = talk.learn(new(PIANO))
    with pytest.raises(Problem):
        revert_changeset(act=act(talk.agent, reason), changeset_id=run.id)
    assert talk.held() == {PIANO} and find_revert(run) is None


def test_a_changeset_that_belongs_to_no_conversation_is_not_reverted(ana: Agent) -> None:
    alone = Changeset.objects.create(tenant=ana.tenant, kind="import", actor="lin")
    with pytest.raises(Conflict):
        revert(alone)


def test_what_a_revert_did_is_written_down_with_both_states(talk: Talk) -> None:
    talk.learn(new(BAKERY))
    undo = revert(talk.learn(replace(BAKERY, HARBOUR)))
    changes = Change.objects.of(talk.agent.tenant).filter(changeset=undo).order_by("position")
    assert steps(undo) == [("invalidate", "reverted"), ("restore", "reverted")]
    harbour, bakery = changes
    (before, after) = harbour.states[str(talk.fact(HARBOUR).id)]
    assert (before["because"], after["because"]) == ("", "reverted")
    (before, after) = bakery.states[str(talk.fact(BAKERY).id)]
    assert (before["because"], after["because"]) == ("superseded", "")


def test_a_plan_costs_as_many_queries_for_many_facts_as_for_few(
    talk: Talk, django_assert_num_queries: Any
) -> None:
    few = talk.learn(new(TOE))
    many = talk.learn(*[new(f"Mira owns a book of the year {1900 + n}.") for n in range(20)])
    for changeset in (few, many):
        with django_assert_num_queries(7):
            plan_revert(tenant=talk.agent.tenant, changeset_id=changeset.id)


@pytest.mark.django_db(transaction=True)
def test_of_two_people_who_undo_the_same_at_once_one_does(ana: Agent) -> None:
    talk = Talk(ana)
    run = talk.learn(new(PIANO))
    both = threading.Barrier(2)
    outcomes: list[str] = []

    @across_tenants()
    def work() -> None:
        both.wait()
        try:
            revert(run)
            outcomes.append("done")
        except Conflict as conflict:
            outcomes.append(conflict.code)
        finally:
            connections.close_all()

    people = [threading.Thread(target=work) for _ in range(2)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    assert sorted(outcomes) == ["conflict", "done"]
    assert Changeset.objects.of(ana.tenant).filter(reverts=run).count() == 1
