"""What merely looks like a contradiction or a duplicate closes nothing until somebody accepts."""

from __future__ import annotations

import itertools
import uuid
from datetime import datetime
from typing import Any

import pytest

from bench.quality.contradictions import read_suggestions
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Scope
from semantic.engines import Action, Category, Consolidation, Proposal, SuggestionKind
from semantic.engines import Suggestion as Hint
from semantic.models import Change, Changeset, Fact, Suggestion
from semantic.suggesting import SUGGESTIONS_A_RUN
from tests.api.problems import assert_problem
from tests.conftest import Agent, make_agent
from tests.fresh import ana as ana
from tests.fresh import bo as bo
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.semantic.fact_makers import know
from tests.semantic.learning import (
    Talk,
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
from tests.semantic.test_curation import declare, restore
from tests.semantic.test_reverting import revert
from wings.suggestions import suggestions

pytestmark = pytest.mark.django_db

BAKERY = "Mira works at a bakery in Ghent."
HARBOUR = "Mira works at the harbour authority in Rotterdam."
PIANO = "Mira owns a very heavy piano."
TOE = "Jonas broke his toe."
HELPING = "Mira is doing her part too, volunteering at a homeless shelter."
SHELTER = "Mira is still volunteering at the homeless shelter."


@pytest.fixture
def talk(ana: Agent) -> Talk:
    made = Talk(ana)
    made.learn(new(BAKERY), new(PIANO), new(TOE))
    return made


@pytest.fixture
def jobs(talk: Talk) -> Talk:
    """A conversation with two jobs that seem to contradict each other."""
    talk.learn(new(HARBOUR), hints=[contradicts(BAKERY, HARBOUR)])
    return talk


def listed(agent: Agent, **query: Any) -> list[dict[str, Any]]:
    answer = agent.get("suggestions", **query)
    assert answer.status_code == 200, answer.content
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def pairs(agent: Agent, **query: Any) -> list[tuple[str, str | None]]:
    """Return the sentences of what is suggested, newest first."""
    rows = listed(agent, **query)
    return [(row["old"]["fact"], row["new"] and row["new"]["fact"]) for row in rows]


def decide(agent: Agent, decision: str, body: Any = None, status: int = 200) -> dict[str, Any]:
    """Accept or decline the newest suggestion that is open."""
    answer = agent.post(f"suggestions/{listed(agent)[0]['id']}/{decision}", body)
    assert answer.status_code == status, answer.content
    decided: dict[str, Any] = answer.json()
    return decided


def undo(agent: Agent, changeset: object) -> dict[str, Any]:
    answer = agent.post(f"changesets/{changeset}/revert", {"reason": "It was a mistake."})
    assert answer.status_code == 201, answer.content
    made: dict[str, Any] = answer.json()
    return made


def test_what_looks_like_a_contradiction_closes_nothing_and_is_listed(jobs: Talk) -> None:
    assert {BAKERY, HARBOUR} <= jobs.held()
    (row,) = listed(jobs.agent)
    old, new_fact = jobs.fact(BAKERY), jobs.fact(HARBOUR)
    assert (row["kind"], row["reason"], row["open"]) == ("contradiction", "same_slot", True)
    assert (row["decision"], row["decided_by"]) == (None, None)
    assert (row["conversation_id"], row["old"]["id"]) == (str(jobs.id), str(old.id))
    assert row["new"]["id"] == str(new_fact.id) and row["new"]["category"] == "identity"
    for shown, fact in ((row["old"], old), (row["new"], new_fact)):
        moments = [datetime.fromisoformat(shown[name]) for name in ("valid_at", "created_at")]
        assert moments == [fact.valid_at, fact.created_at]
    run = Changeset.objects.of(jobs.agent.tenant).get(id=row["changeset_id"])
    assert steps(run) == [("new", ""), ("suggest", "same_slot")]


def test_accepting_closes_the_old_fact_and_is_undone_and_done_again(jobs: Talk) -> None:
    decided = decide(jobs.agent, "accept", {"reason": "Mira told us."})
    assert (decided["open"], decided["decision"]) == (False, "accepted")
    old, new_fact = jobs.fact(BAKERY), jobs.fact(HARBOUR)
    assert (old.invalidated_because, old.superseded_by_id) == ("superseded", new_fact.id)
    assert old.valid_until == new_fact.valid_at and new_fact.invalid_at is None
    made = Changeset.objects.of(jobs.agent.tenant).get(id=decided["decided_by"])
    assert (made.kind, made.actor, made.reason) == ("curation", "key ana", "Mira told us.")
    assert steps(made) == [("invalidate", "accepted")]
    assert listed(jobs.agent) == [] and pairs(jobs.agent, open="false") == [(BAKERY, HARBOUR)]
    undone = undo(jobs.agent, made.id)
    assert {BAKERY, HARBOUR} <= jobs.held() and pairs(jobs.agent) == [(BAKERY, HARBOUR)]
    assert listed(jobs.agent, open="false") == []
    undo(jobs.agent, undone["id"])
    assert BAKERY not in jobs.held() and listed(jobs.agent) == []


def test_declining_leaves_both_and_they_are_not_suggested_again(jobs: Talk) -> None:
    decided = decide(jobs.agent, "decline")
    made = Changeset.objects.of(jobs.agent.tenant).get(id=decided["decided_by"])
    assert (decided["decision"], made.reason) == ("declined", "Declined a suggestion.")
    assert steps(made) == [("skip", "declined")]
    assert {BAKERY, HARBOUR} <= jobs.held() and listed(jobs.agent) == []
    run = jobs.learn(confirm(HARBOUR), hints=[contradicts(BAKERY, HARBOUR)])
    assert steps(run) == [("reinforce", "")] and listed(jobs.agent) == []
    undone = undo(jobs.agent, made.id)
    assert pairs(jobs.agent) == [(BAKERY, HARBOUR)]
    undo(jobs.agent, undone["id"])
    assert listed(jobs.agent) == []


@pytest.mark.parametrize("first", ["accept", "decline"])
def test_what_is_decided_is_not_decided_again(jobs: Talk, first: str) -> None:
    decided = decide(jobs.agent, first)
    held = jobs.held()
    for second in ("accept", "decline"):
        assert_problem(jobs.agent.post(f"suggestions/{decided['id']}/{second}"), 409)
    assert jobs.held() == held and Suggestion.objects.of(jobs.agent.tenant).count() == 1


@pytest.mark.parametrize("decision", ["accept", "decline"])
def test_what_was_reopened_is_decided_anew(jobs: Talk, decision: str) -> None:
    undo(jobs.agent, decide(jobs.agent, "decline")["decided_by"])
    decided = decide(jobs.agent, decision)
    assert listed(jobs.agent) == [] and len(listed(jobs.agent, open="false")) == 1
    undo(jobs.agent, decided["decided_by"])
    assert pairs(jobs.agent) == [(BAKERY, HARBOUR)]


def test_a_pair_is_suggested_once_either_way_round(jobs: Talk) -> None:
    again = [contradicts(BAKERY, HARBOUR), contradicts(HARBOUR, BAKERY, "negation")]
    run = jobs.learn(confirm(TOE), hints=[*again, *again])
    assert steps(run) == [("reinforce", "")]
    assert pairs(jobs.agent) == [(BAKERY, HARBOUR)]
    jobs.learn(confirm(TOE), hints=[repeats(BAKERY, HARBOUR)])
    kinds = [row["kind"] for row in listed(jobs.agent)]
    assert kinds == ["duplicate", "contradiction"], "another kind is another suggestion"
    assert [row["kind"] for row in listed(jobs.agent, kind="duplicate")] == ["duplicate"]


def test_undoing_the_run_takes_its_suggestions_away_and_a_later_run_brings_them_back(
    jobs: Talk,
) -> None:
    run = jobs.learn(confirm(TOE), hints=[contradicts(PIANO, TOE)])
    undone = revert(run)
    assert {PIANO, TOE} <= jobs.held() and pairs(jobs.agent) == [(BAKERY, HARBOUR)]
    again = revert(undone)
    assert pairs(jobs.agent) == [(PIANO, TOE), (BAKERY, HARBOUR)]
    revert(again)
    later = jobs.learn(confirm(TOE), hints=[contradicts(PIANO, TOE)])
    assert steps(later) == [("reinforce", ""), ("suggest", "same_slot")]
    assert pairs(jobs.agent) == [(PIANO, TOE), (BAKERY, HARBOUR)]
    revert(later)
    assert pairs(jobs.agent) == [(BAKERY, HARBOUR)]


@pytest.mark.django_db(transaction=True)
def test_undoing_a_source_takes_away_what_its_run_suggested(talk: Talk, bo: Agent) -> None:
    hints = [contradicts(PIANO, TOE), contradicts(BAKERY, HARBOUR)]
    Talk(bo, talk.id).learn(new(HARBOUR), hints=hints)
    assert pairs(talk.agent) == [(BAKERY, HARBOUR), (PIANO, TOE)]
    source = {"since": "2020-01-01T00:00:00Z", "key_id": str(bo.key.id), "reason": "It lies."}
    assert talk.agent.post("rollbacks", {**source, "dry_run": True}).status_code == 200
    assert pairs(talk.agent) == [(BAKERY, HARBOUR), (PIANO, TOE)]
    assert talk.agent.post("rollbacks", source).status_code == 201
    assert talk.held() == {BAKERY, PIANO, TOE} and listed(talk.agent) == []
    assert pairs(talk.agent, open="false") == [(BAKERY, HARBOUR), (PIANO, TOE)]


def test_what_was_declined_stays_so_when_its_run_is_undone_and_repeated(jobs: Talk) -> None:
    run = jobs.learn(confirm(TOE), hints=[contradicts(PIANO, TOE)])
    decide(jobs.agent, "decline")
    revert(run)
    jobs.learn(confirm(TOE), hints=[contradicts(PIANO, TOE)])
    assert pairs(jobs.agent) == [(BAKERY, HARBOUR)]


def test_a_suggestion_is_open_while_its_facts_are_active(jobs: Talk) -> None:
    (row,) = listed(jobs.agent)
    for sentence in (BAKERY, HARBOUR):
        declare(jobs, sentence)
        assert listed(jobs.agent) == []
        assert_problem(jobs.agent.post(f"suggestions/{row['id']}/accept"), 409)
        restore(jobs, sentence)
        assert pairs(jobs.agent) == [(BAKERY, HARBOUR)]


def test_an_engine_that_names_facts_which_are_not_there_suggests_nothing(talk: Talk) -> None:
    hints = [
        contradicts("nobody said", TOE),
        contradicts(TOE, "nobody said"),
        contradicts(TOE, TOE),
        contradicts("nobody said", None),
    ]
    run = talk.learn(confirm(TOE), hints=hints)
    assert steps(run) == [("reinforce", ""), *[("skip", "no_pair")] * 4]
    assert listed(talk.agent) == []


def test_what_nothing_takes_the_place_of_is_invalidated(talk: Talk) -> None:
    talk.learn(confirm(PIANO), hints=[contradicts(TOE, None, "negation")])
    assert pairs(talk.agent) == [(TOE, None)]
    said = Fact.objects.of(talk.agent.tenant).get(fact=TOE)
    decide(talk.agent, "accept")
    fact = talk.fact(TOE)
    assert (fact.invalidated_because, fact.superseded_by_id) == ("superseded", None)
    assert fact.valid_until is not None and said.created_at > fact.valid_until > said.valid_at


def test_no_run_floods_the_queue(talk: Talk) -> None:
    hats = [f"Mira has {number} hats." for number in range(12)]
    hints = [contradicts(*two) for two in itertools.combinations(hats, 2)]
    run = talk.learn(*map(new, hats), hints=hints)
    cap = SUGGESTIONS_A_RUN
    assert steps(run)[12:] == [*[("suggest", "same_slot")] * cap, ("skip", "cap")]
    first = talk.agent.get("suggestions", limit="40").json()
    rest = talk.agent.get("suggestions", limit="40", after=first["next"]).json()
    assert [len(page["items"]) for page in (first, rest)] == [40, cap - 40]
    assert rest["next"] is None


FACTS = [f"Mira has been to {city}." for city in ("Ghent", "Lisbon", "Porto", "Graz", "Bergen")]


def test_invalidations_above_the_cap_are_suggested_and_updates_are_not_capped(talk: Talk) -> None:
    talk.learn(*[new(fact) for fact in FACTS])
    later = [fact.replace("has been", "moved") for fact in FACTS]
    run = talk.learn(*[replace(old, better) for old, better in zip(FACTS, later, strict=True)])
    assert steps(run) == [("update", "")] * 5 and set(later) <= talk.held()
    assert not talk.held() & set(FACTS) and listed(talk.agent) == []
    run = talk.learn(*[end(fact) for fact in later])
    assert steps(run) == [*[("invalidate", "")] * 3, *[("suggest", "cap")] * 2]
    assert sorted(pairs(talk.agent)) == sorted((fact, None) for fact in later[3:])
    assert steps(talk.learn(*[end(fact) for fact in later[3:]])) == [("invalidate", "")] * 2
    assert listed(talk.agent) == []


def test_an_invalidation_above_the_cap_ends_when_it_was_said_to(talk: Talk) -> None:
    talk.learn(*[new(fact) for fact in FACTS])
    run = talk.learn(*[end(fact) for fact in FACTS])
    done = Change.objects.of(talk.agent.tenant).filter(changeset=run, action="invalidate")
    first = Fact.objects.of(talk.agent.tenant).get(id=done.order_by("position")[0].memory_id)
    decided = decide(talk.agent, "accept")
    fact = Fact.objects.of(talk.agent.tenant).get(id=decided["old"]["id"])
    assert fact.valid_until is not None and fact.valid_until == first.valid_until


def test_facts_that_nearly_say_the_same_are_both_kept_and_suggested(talk: Talk) -> None:
    talk.learn(new(HELPING))
    run = talk.learn(new(SHELTER), new(SHELTER.replace("homeless", "animal")))
    assert steps(run) == [("new", ""), ("new", ""), ("suggest", "near_words")]
    assert pairs(talk.agent, kind="duplicate") == [(HELPING, SHELTER)]
    assert steps(talk.learn(new(SHELTER))) == [("merge", "")]
    assert pairs(talk.agent) == [(HELPING, SHELTER)]


def test_of_two_duplicates_the_longer_stays_with_the_evidence_of_both(talk: Talk) -> None:
    talk.learn(new(HELPING))
    talk.learn(new(SHELTER))
    decided = decide(talk.agent, "accept")
    longer, shorter = talk.fact(HELPING), talk.fact(SHELTER)
    assert (shorter.invalidated_because, shorter.superseded_by_id) == ("superseded", longer.id)
    assert (longer.invalid_at, counting_evidence(longer)) == (None, 2)
    made = Changeset.objects.of(talk.agent.tenant).get(id=decided["decided_by"])
    assert steps(made) == [("merge", "accepted"), ("invalidate", "accepted")]
    undo(talk.agent, made.id)
    assert {HELPING, SHELTER} <= talk.held() and counting_evidence(talk.fact(HELPING)) == 1
    assert pairs(talk.agent) == [(HELPING, SHELTER)]


def test_an_evaluation_in_memory_tells_suggestions_by_their_sentences() -> None:
    known = [know(BAKERY), know(TOE, alias="F2")]
    proposal = Proposal(Action.NEW, None, Category.IDENTITY, HARBOUR, ())
    kind = SuggestionKind.CONTRADICTION
    answer = Consolidation(
        (proposal,),
        "test",
        suggestions=(
            Hint(kind, "F1", "P0", "same_slot"),
            Hint(kind, "F2", None, "negation"),
            Hint(kind, "F9", "P0", "same_slot"),
            Hint(kind, "F1", "P1", "same_slot"),
        ),
    )
    told = [(item.old, item.new, item.reason) for item in read_suggestions(known, answer)]
    assert told == [(BAKERY, HARBOUR, "same_slot"), (TOE, None, "negation")]


def served(talk: Talk, call: str = "retrieve_memory/raw", **more: Any) -> Any:
    body = {"conversation_id": str(talk.id), "query": f"{BAKERY} {PIANO}", **more}
    answer = talk.agent.post(call, body)
    assert answer.status_code == 200, answer.content
    return answer


def sentences(talk: Talk, **more: Any) -> list[str]:
    """Return the facts of an answer whose best match is an old one, in order."""
    return [fact["fact"] for fact in served(talk, **more).json()["semantic"]]


def test_the_newer_of_two_comes_first_until_somebody_decides(jobs: Talk) -> None:
    decided = decide(jobs.agent, "decline")
    before = sentences(jobs)
    assert before.index(BAKERY) < before.index(HARBOUR) and set(before) == jobs.held()
    undo(jobs.agent, decided["decided_by"])
    after = sentences(jobs)
    assert after.index(HARBOUR) == before.index(BAKERY) == after.index(BAKERY) - 1
    assert [one for one in after if one != HARBOUR] == [one for one in before if one != HARBOUR]
    told = served(jobs, explain=True).json()
    ranks = [told["explain"]["hits"][fact["id"]]["rank"] for fact in told["semantic"]]
    assert ranks == [1, 2, 3, 4] and all(fact["valid_at"] for fact in told["semantic"])
    for call in ("retrieve_memory", "context_pre_retrieve"):
        lines = [
            line for line in served(jobs, call).content.decode().splitlines() if "works" in line
        ]
        assert [HARBOUR in line for line in lines] == [True, False]
        assert lines[0] == f"- [identity] {HARBOUR} (sources: 1 conversation)"
    text = served(jobs, "retrieve_memory", max_tokens=500).content.decode()
    bullets = [line for line in text.splitlines() if line.endswith((HARBOUR, BAKERY))]
    assert [HARBOUR in line for line in bullets] == [True, False]
    assert all("2026" in line for line in bullets), "each says its day"
    hits = jobs.agent.get(f"retrievals/{told['receipt']}").json()["hits"]
    facts = {hit["rank"]: hit["memory_id"] for hit in hits if hit["kind"] == "fact"}
    assert [facts[rank] for rank in ranks] == [fact["id"] for fact in told["semantic"]]


def test_of_a_row_of_contradictions_the_newest_comes_first(jobs: Talk) -> None:
    retired = "Mira has retired from all work."
    jobs.learn(new(retired), hints=[contradicts(HARBOUR, retired), contradicts(retired, BAKERY)])
    order = sentences(jobs)
    assert sorted(order[:3]) == sorted([BAKERY, HARBOUR, retired]), "a circle is no trouble"
    assert order.index(retired) < order.index(HARBOUR) < order.index(BAKERY)


def test_a_fact_that_is_not_shown_orders_nothing(jobs: Talk) -> None:
    (first,) = sentences(jobs, semantic_limit=1)
    assert first in {BAKERY, PIANO}


def test_a_stranger_finds_nothing_and_a_reader_decides_nothing(jobs: Talk, cleo: Agent) -> None:
    (row,) = listed(jobs.agent)
    assert listed(cleo) == listed(cleo, conversation_id=str(jobs.id)) == []
    reader = make_agent(jobs.agent.tenant.name, "reader", (Scope.READ,))
    assert listed(reader) == [row] == listed(reader, conversation_id=str(jobs.id))
    assert listed(reader, conversation_id=str(uuid.uuid4())) == []
    for decision in ("accept", "decline"):
        assert_problem(cleo.post(f"suggestions/{row['id']}/{decision}"), 404)
        assert_problem(jobs.agent.post(f"suggestions/{uuid.uuid4()}/{decision}"), 404)
        assert_problem(reader.post(f"suggestions/{row['id']}/{decision}"), 403)
    writer = make_agent(jobs.agent.tenant.name, "writer", (Scope.INGEST,))
    assert_problem(writer.get("suggestions"), 403)
    assert listed(jobs.agent) == [row]


@pytest.mark.parametrize("reason", ["", " \n", 5, True, [], "x" * 2001])
def test_an_odd_reason_is_named_and_decides_nothing(jobs: Talk, reason: Any) -> None:
    (row,) = listed(jobs.agent)
    for decision in ("accept", "decline"):
        answer = jobs.agent.post(f"suggestions/{row['id']}/{decision}", {"reason": reason})
        assert_problem(answer, 400, "reason")
    assert_problem(jobs.agent.post(f"suggestions/{row['id']}/accept", {"actor": "x"}), 400, "actor")
    assert listed(jobs.agent) == [row]


@pytest.mark.parametrize(("field", "value"), [("open", "yes"), ("kind", "odd"), ("fact", "x")])
def test_an_odd_filter_is_named(jobs: Talk, field: str, value: str) -> None:
    assert_problem(jobs.agent.get("suggestions", **{field: value}), 400, field)


def test_a_fact_that_waits_for_approval_is_not_told_by_a_suggestion(jobs: Talk) -> None:
    fact = jobs.fact(HARBOUR)
    Fact.objects.of(jobs.agent.tenant).filter(id=fact.id).update(
        invalid_at=fact.created_at, invalidated_because="waiting"
    )
    assert listed(jobs.agent) == listed(jobs.agent, open="false") == []


def test_a_decision_of_a_service_needs_a_reason(jobs: Talk) -> None:
    (row,) = listed(jobs.agent)
    for decide in (suggestions.accept_suggestion, suggestions.decline_suggestion):
        with pytest.raises(Problem):
            decide(act=act(jobs.agent, " "), suggestion_id=uuid.UUID(row["id"]))
    assert listed(jobs.agent) == [row]
