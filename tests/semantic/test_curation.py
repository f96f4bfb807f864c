"""People declare facts over or wrong, hold them again, and correct them."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from indexing.models import SearchUnit, SearchVector, ShelfSize, WordCount
from jobs.claims import SnapshotMoved
from jobs.models import Job
from memoryproject.edge.errors import Conflict, NotFound, Problem
from memoryproject.tenancy.walls import across_tenants
from semantic import corrections, curation
from semantic.engines import Category
from semantic.models import Change, Changeset, Fact
from semantic.proposal_writer import DECLARED_WRONG
from tests.conftest import Agent
from tests.embedders import embedding_by
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.semantic.learning import (
    Talk,
    Wishes,
    act,
    confirm,
    counting_evidence,
    new,
    replace,
    steps,
)

pytestmark = pytest.mark.django_db

BAKERY = "Mira works at a bakery in Ghent."
HARBOUR = "Mira works at the harbour authority in Rotterdam."
PIANO = "Mira owns a very heavy piano."
PIANO_AGAIN = "Mira owns a really very heavy piano."
TOE = "Jonas broke his toe."
WRONG, SUPERSEDED = Fact.Because.WRONG, Fact.Because.SUPERSEDED


@pytest.fixture
def talk(ana: Agent) -> Talk:
    made = Talk(ana)
    made.learn(new(BAKERY), new(PIANO), new(TOE))
    return made


def served(talk: Talk, query: str, **more: Any) -> dict[str, dict[str, Any]]:
    """Return the facts of an answer by their sentence, and how each was found."""
    body = {"conversation_id": str(talk.id), "query": query, "explain": True, **more}
    answer = talk.agent.post("retrieve_memory/raw", body)
    assert answer.status_code == 200, answer.content
    found, how = answer.json()["semantic"], answer.json()["explain"]["hits"]
    return {fact["fact"]: fact | how[fact["id"]] for fact in found}


def declare(talk: Talk, sentence: str, because: Fact.Because = WRONG) -> Changeset:
    (changeset,) = curation.invalidate_facts(
        act=act(talk.agent), fact_ids=[talk.fact(sentence).id], because=because
    )
    return changeset


def restore(talk: Talk, sentence: str) -> Changeset:
    (changeset,) = curation.restore_facts(act=act(talk.agent), fact_ids=[talk.fact(sentence).id])
    return changeset


def correct(talk: Talk, sentence: str, better: str, **more: Any) -> Fact:
    return corrections.correct_fact(
        act=act(talk.agent), fact_id=talk.fact(sentence).id, sentence=better, **more
    )


def test_what_is_over_is_served_for_the_time_when_it_was_true(talk: Talk) -> None:
    changeset = declare(talk, BAKERY, SUPERSEDED)
    fact = talk.fact(BAKERY)
    assert (fact.invalidated_because, fact.version) == ("superseded", 2)
    assert fact.invalid_at == fact.valid_until == changeset.started_at
    assert BAKERY not in served(talk, "Where does Mira work?")
    assert BAKERY in served(talk, "Where does Mira work?", as_of="2026-03-20T00:00:00Z")


def test_what_was_wrong_is_served_for_no_time(talk: Talk) -> None:
    declare(talk, BAKERY)
    fact = talk.fact(BAKERY)
    assert fact.valid_until == fact.valid_at and fact.invalid_at is not None
    assert BAKERY not in served(talk, "Where does Mira work?")
    for then in ("2026-03-02T09:03:30Z", "2026-03-20T00:00:00Z", "2026-11-01T00:00:00Z"):
        assert BAKERY not in served(talk, "Where does Mira work?", as_of=then)


def test_an_act_leaves_who_did_it_why_and_both_states(talk: Talk) -> None:
    changeset = declare(talk, BAKERY)
    assert (changeset.kind, changeset.actor) == ("curation", "lin")
    assert (changeset.reason, changeset.job_id) == ("Mira said so herself.", None)
    (change,) = Change.objects.of(talk.agent.tenant).filter(changeset=changeset)
    fact = talk.fact(BAKERY)
    before, after = change.states[str(fact.id)]
    assert (change.action, change.memory_id) == ("invalidate", fact.id)
    assert before == {"because": "", "valid_until": None, "superseded_by": None}
    assert after["because"] == "wrong" and after["superseded_by"] is None


def shelf(talk: Talk) -> tuple[int, int, dict[int, int]]:
    """Return units, lexemes and words of the shelf of facts, as they are kept."""
    scope = {"conversation": talk.row(), "user_scope": None, "shelf": "fact"}
    size = ShelfSize.objects.of(talk.agent.tenant).get(**scope)
    words = WordCount.objects.of(talk.agent.tenant).filter(**scope, units__gt=0)
    return size.units, size.lexemes, dict(words.values_list("slot", "units"))


def test_a_restored_fact_is_found_as_before_by_words_and_by_meaning(talk: Talk) -> None:
    with connection.cursor() as cursor:
        row = talk.row()
        cursor.execute(
            "SELECT public.memory_count_words(%s, %s, NULL, 'fact')", [talk.agent.tenant.id, row.id]
        )
    question, counts = "Who works at a bakery in Ghent?", shelf(talk)
    before = served(talk, question)
    declare(talk, BAKERY)
    assert BAKERY not in served(talk, question)
    fewer = shelf(talk)
    assert fewer[0] == counts[0] - 1 and len(fewer[2]) < len(counts[2])
    restore(talk, BAKERY)
    fact = talk.fact(BAKERY)
    assert (fact.invalid_at, fact.valid_until, fact.invalidated_because) == (None, None, "")
    assert fact.version == 3
    after = served(talk, question)
    assert after == before
    assert after[BAKERY]["lexical_rank"] == after[BAKERY]["vector_rank"] == 1
    assert shelf(talk) == counts
    for table in (SearchUnit, SearchVector):
        rows = table.objects.of(talk.agent.tenant).filter(memory=fact.id)
        assert rows.filter(invalid_at=None, valid_until=None).count() == rows.count() == 1


def test_what_is_held_cannot_be_restored_and_what_is_not_cannot_be_closed(talk: Talk) -> None:
    with pytest.raises(Conflict):
        restore(talk, BAKERY)
    declare(talk, BAKERY)
    for act_of in (declare, restore, restore):
        with pytest.raises(Conflict):
            act_of(talk, BAKERY) if act_of is declare else _restore_twice(talk)
    assert talk.fact(BAKERY).invalid_at is None


def _restore_twice(talk: Talk) -> None:
    if talk.fact(BAKERY).invalid_at is not None:
        restore(talk, BAKERY)
    restore(talk, BAKERY)


def test_an_erased_fact_is_not_restored(talk: Talk) -> None:
    declare(talk, BAKERY)
    Fact.objects.of(talk.agent.tenant).filter(fact=BAKERY).update(invalidated_because="erased")
    with pytest.raises(Conflict, match="erased"):
        restore(talk, BAKERY)


def test_a_sentence_that_is_held_as_another_fact_is_not_restored(talk: Talk) -> None:
    declare(talk, BAKERY, SUPERSEDED)
    talk.learn(new(BAKERY))
    first = Fact.objects.of(talk.agent.tenant).filter(fact=BAKERY).order_by("id")[0]
    assert first.invalid_at is not None and BAKERY in talk.held()
    with pytest.raises(Conflict, match="says the same"):
        curation.restore_facts(act=act(talk.agent), fact_ids=[first.id])


def test_a_correction_takes_the_place_of_the_fact_on_the_word_of_a_person(talk: Talk) -> None:
    talk.learn(confirm(BAKERY))
    old = talk.fact(BAKERY)
    opened = correct(talk, BAKERY, "  Mira worked at a bakery\n in Bruges. ")
    old.refresh_from_db()
    assert opened.fact == "Mira worked at a bakery in Bruges."
    assert (old.invalidated_because, old.superseded_by_id) == ("wrong", opened.id)
    assert (opened.category, opened.valid_at) == (old.category, old.valid_at)
    assert (counting_evidence(opened), counting_evidence(old)) == (0, 2)
    assert "Bruges" in opened.keywords and "Mira" in opened.keywords
    assert set(served(talk, "Which bakery did Mira work at?")) == {opened.fact, PIANO, TOE}
    changeset = opened.changeset
    assert steps(changeset) == [("update", "corrected")]
    assert changeset.reason == "Mira said so herself."


def test_only_the_category_or_the_keywords_may_be_corrected(talk: Talk) -> None:
    old = talk.fact(PIANO)
    opened = correct(talk, PIANO, PIANO, category=Category.INTEREST, keywords=["piano ", "piano"])
    old.refresh_from_db()
    assert (opened.category, opened.keywords) == ("interest", ["piano"])
    assert (old.invalidated_because, old.superseded_by_id) == ("superseded", opened.id)
    assert old.valid_until == old.valid_at, "the old version is true at no time"
    found = served(talk, "Who owns a heavy piano?", as_of="2026-03-20T00:00:00Z")
    assert found[PIANO]["id"] == str(opened.id)
    assert talk.held() == {BAKERY, PIANO, TOE}
    declare(talk, PIANO, SUPERSEDED)
    talk.learn(new(PIANO))
    assert PIANO in talk.held(), "nobody said that it was wrong"


@pytest.mark.parametrize(
    ("better", "more"),
    [
        ("", {}),
        (" \n", {}),
        ("x" * 1_001, {}),
        ("a\x00b", {}),
        (HARBOUR, {"keywords": ["x" * 101]}),
        (HARBOUR, {"keywords": [str(n) for n in range(21)]}),
        (HARBOUR, {"keywords": ["a\x00"]}),
    ],
)
def test_a_correction_needs_a_sentence_and_keywords_of_sensible_length(
    talk: Talk, better: str, more: dict[str, Any]
) -> None:
    with pytest.raises(Problem) as problem:
        correct(talk, BAKERY, better, **more)
    assert problem.value.status == 400 and problem.value.fields
    assert talk.held() == {BAKERY, PIANO, TOE}


@pytest.mark.parametrize("better", [PIANO, "mira owns a very HEAVY piano", BAKERY])
def test_a_correction_does_not_repeat_what_is_held(talk: Talk, better: str) -> None:
    keywords = talk.fact(BAKERY).keywords if better == BAKERY else None
    with pytest.raises(Conflict):
        correct(talk, BAKERY, better, keywords=keywords)
    assert talk.held() == {BAKERY, PIANO, TOE}


def test_a_correction_of_another_version_than_was_looked_at_is_refused(talk: Talk) -> None:
    seen = talk.fact(BAKERY).version
    declare(talk, BAKERY, SUPERSEDED)
    restore(talk, BAKERY)
    with pytest.raises(Conflict, match="look at it again"):
        correct(talk, BAKERY, HARBOUR, version=seen)
    assert correct(talk, BAKERY, HARBOUR, version=seen + 2).fact == HARBOUR


def test_nothing_is_closed_or_restored_that_has_changed_since_it_was_looked_at(talk: Talk) -> None:
    facts = [talk.fact(sentence) for sentence in (BAKERY, PIANO)]
    ids, seen = [fact.id for fact in facts], {fact.id: fact.version for fact in facts}
    declare(talk, PIANO)
    restore(talk, PIANO)
    why = act(talk.agent)
    with pytest.raises(Conflict, match="changed meanwhile"):
        curation.invalidate_facts(act=why, fact_ids=ids, because=WRONG, versions=seen)
    assert talk.held() == {BAKERY, PIANO, TOE}
    seen[talk.fact(PIANO).id] += 2
    curation.invalidate_facts(act=why, fact_ids=ids, because=WRONG, versions=seen)
    with pytest.raises(Conflict, match="changed meanwhile"):
        curation.restore_facts(act=why, fact_ids=ids, versions=seen)
    assert talk.held() == {TOE}


@pytest.mark.parametrize("reason", ["", "  \n", "x" * 2_001, "a\x00b"])
def test_every_act_says_why(talk: Talk, reason: str) -> None:
    why, fact = act(talk.agent, reason), talk.fact(BAKERY)
    acts: list[Callable[[], object]] = [
        lambda: curation.invalidate_facts(act=why, fact_ids=[fact.id], because=WRONG),
        lambda: corrections.correct_fact(act=why, fact_id=fact.id, sentence=HARBOUR),
    ]
    for do in acts:
        with pytest.raises(Problem) as problem:
            do()
        assert list(problem.value.fields) == ["reason"]
    declare(talk, BAKERY)
    with pytest.raises(Problem):
        curation.restore_facts(act=why, fact_ids=[fact.id])
    assert talk.held() == {PIANO, TOE}
    assert Changeset.objects.of(talk.agent.tenant).filter(kind="curation").count() == 1


def test_nobody_erases_by_invalidating(talk: Talk) -> None:
    with pytest.raises(Problem):
        declare(talk, BAKERY, Fact.Because.ERASED)


@pytest.mark.parametrize("count", [0, settings.FACTS_AT_ONCE + 1])
def test_an_act_is_about_one_to_a_thousand_facts(ana: Agent, count: int) -> None:
    ids = [uuid.uuid4() for _ in range(count)]
    with pytest.raises(Problem):
        curation.invalidate_facts(act=act(ana), fact_ids=ids, because=WRONG)


def test_what_belongs_to_a_stranger_is_not_there(talk: Talk, cleo: Agent) -> None:
    fact, own = talk.fact(BAKERY), Talk(cleo)
    own.learn(new(BAKERY))
    both = [fact.id, own.fact(BAKERY).id]
    acts: list[Callable[[], object]] = [
        lambda: curation.invalidate_facts(act=act(cleo), fact_ids=both, because=WRONG),
        lambda: curation.restore_facts(act=act(cleo), fact_ids=both),
        lambda: corrections.correct_fact(act=act(cleo), fact_id=fact.id, sentence=HARBOUR),
    ]
    for do in acts:
        with pytest.raises(NotFound):
            do()
    assert BAKERY in talk.held() and BAKERY in own.held()


def test_many_facts_of_several_conversations_are_closed_and_restored_all_or_none(
    talk: Talk,
) -> None:
    other = Talk(talk.agent)
    other.learn(new(BAKERY), new(TOE))
    chosen = [talk.fact(BAKERY), talk.fact(PIANO), other.fact(BAKERY)]
    ids = [fact.id for fact in chosen]
    declare(other, TOE)
    with pytest.raises(Conflict):
        curation.invalidate_facts(
            act=act(talk.agent), fact_ids=[*ids, other.fact(TOE).id], because=WRONG
        )
    assert talk.held() == {BAKERY, PIANO, TOE} and other.held() == {BAKERY}
    made = curation.invalidate_facts(act=act(talk.agent), fact_ids=ids, because=WRONG)
    assert [one.conversation_id for one in made] == sorted([talk.row().id, other.row().id])
    assert talk.held() == {TOE} and other.held() == set()
    with pytest.raises(Conflict):
        curation.restore_facts(act=act(talk.agent), fact_ids=[*ids, talk.fact(TOE).id])
    assert talk.held() == {TOE}
    curation.restore_facts(act=act(talk.agent), fact_ids=ids)
    assert talk.held() == {BAKERY, PIANO, TOE} and other.held() == {BAKERY}


def count_queries(do: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as asked:
        do()
    return len(asked)


def test_closing_one_more_fact_costs_the_writes_of_one_fact(talk: Talk) -> None:
    ids = [talk.fact(sentence).id for sentence in (BAKERY, PIANO, TOE)]
    costs = []
    for some in (ids[:1], ids[1:]):
        costs.append(
            count_queries(
                lambda some=some: curation.invalidate_facts(
                    act=act(talk.agent), fact_ids=some, because=WRONG
                )
            )
        )
    written, looked_for = 3, 14
    assert costs[1] - costs[0] == written + looked_for, "the fact, its unit, its vector; its marks"


@pytest.mark.parametrize("again", ["mira owns a very heavy piano", PIANO_AGAIN])
def test_what_was_declared_wrong_is_not_learnt_again_until_it_is_restored(
    talk: Talk, again: str
) -> None:
    declare(talk, PIANO)
    wrong = talk.fact(PIANO)
    for _ in range(2):
        run = talk.learn(new(again))
        assert steps(run) == [("skip", DECLARED_WRONG)]
        (step,) = Change.objects.of(talk.agent.tenant).filter(changeset=run)
        assert step.memory_id == wrong.id
        assert talk.held() == {BAKERY, TOE}
    restore(talk, PIANO)
    assert steps(talk.learn(new(again))) == [("merge", "")]
    assert talk.held() == {BAKERY, PIANO, TOE}


def test_nothing_is_replaced_by_what_was_declared_wrong(talk: Talk) -> None:
    talk.learn(new(HARBOUR))
    declare(talk, HARBOUR)
    assert steps(talk.learn(replace(BAKERY, HARBOUR))) == [("skip", DECLARED_WRONG)]
    assert talk.held() == {BAKERY, PIANO, TOE}


def test_what_resembles_a_wrong_fact_but_says_something_else_is_learnt(talk: Talk) -> None:
    declare(talk, PIANO)
    others = ["Mira owns two very heavy pianos.", "Jonas owns a very heavy piano."]
    assert steps(talk.learn(*map(new, others))) == [("new", ""), ("new", "")]


def test_what_is_only_over_may_be_learnt_again(talk: Talk) -> None:
    declare(talk, PIANO, SUPERSEDED)
    assert steps(talk.learn(new(PIANO))) == [("new", "")]


def test_a_wrong_fact_of_one_conversation_is_learnt_in_another(talk: Talk) -> None:
    declare(talk, PIANO)
    assert steps(Talk(talk.agent).learn(new(PIANO))) == [("new", "")]


def test_a_corrected_fact_gains_evidence_and_the_wrong_words_stay_out(talk: Talk) -> None:
    correct(talk, BAKERY, HARBOUR)
    run = talk.learn(new(HARBOUR), new(BAKERY))
    assert steps(run) == [("merge", ""), ("skip", DECLARED_WRONG)]
    assert talk.held() == {HARBOUR, PIANO, TOE}


def test_a_run_that_a_curator_overtakes_writes_nothing_and_runs_again(talk: Talk) -> None:
    talk.say()
    overtaken = Wishes([confirm(BAKERY), new(HARBOUR)], meanwhile=lambda: declare(talk, BAKERY))
    with pytest.raises(SnapshotMoved):
        talk.draw(overtaken)
    assert talk.held() == {PIANO, TOE}
    again = talk.draw(Wishes([confirm(BAKERY), new(HARBOUR)]))
    assert steps(again) == [("skip", DECLARED_WRONG), ("new", "")]
    assert talk.held() == {PIANO, TOE, HARBOUR}


def test_a_correction_made_while_a_run_thinks_is_merged_with_what_it_found(talk: Talk) -> None:
    talk.say()
    thinking = Wishes([new(HARBOUR)], meanwhile=lambda: correct(talk, BAKERY, HARBOUR))
    with pytest.raises(SnapshotMoved):
        talk.draw(thinking)
    assert steps(talk.draw(Wishes([new(HARBOUR)]))) == [("merge", "")]
    assert counting_evidence(talk.fact(HARBOUR)) == 2


@pytest.fixture
def no_embedder(settings: Any) -> Iterator[None]:
    """Embeddings come from an endpoint where nobody answers."""
    with embedding_by("http://127.0.0.1:9/v1", settings, model="a-model", dim=1536):
        yield


def test_a_correction_while_the_embedding_model_is_away_is_found_by_its_words(
    talk: Talk, no_embedder: None
) -> None:
    opened = correct(talk, BAKERY, HARBOUR)
    assert Job.objects.of(talk.agent.tenant).filter(kind="embed", state="ready").count() == 1
    assert not SearchVector.objects.of(talk.agent.tenant).filter(memory=opened.id).exists()
    assert SearchUnit.objects.of(talk.agent.tenant).filter(memory=opened.id).count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_corrections_at_once_one_is_told_to_look_again(ana: Agent) -> None:
    talk = Talk(ana)
    talk.learn(new(BAKERY))
    fact, both = talk.fact(BAKERY), threading.Barrier(2)
    outcomes: list[str] = []

    @across_tenants()
    def work(sentence: str) -> None:
        both.wait()
        try:
            outcomes.append(correct(talk, BAKERY, sentence, version=fact.version).fact)
        except Conflict as conflict:
            outcomes.append(conflict.code)
        finally:
            connections.close_all()

    people = [threading.Thread(target=work, args=[said]) for said in (HARBOUR, PIANO)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    assert sorted(outcomes) in (sorted(["conflict", HARBOUR]), sorted(["conflict", PIANO]))
    assert len(talk.held()) == 1
