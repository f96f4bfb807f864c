"""The page of a fact: what says it, what became of it, who was told."""

from __future__ import annotations

import html
import re
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from episodic.models import Message
from semantic import curation, reverts
from semantic.models import Change, Evidence, Fact
from tests.admin.pages import page, seen
from tests.conftest import Agent
from tests.semantic.learning import Talk, act, confirm, new, replace
from tests.semantic.test_curation import correct, declare

pytestmark = pytest.mark.django_db

BAKERY = "Mira works at a bakery in Ghent."
HARBOUR = "Mira works at the harbour authority in Antwerp."
ROTTERDAM = "Mira works at the harbour authority in Rotterdam."
PIANO = "Mira owns a very heavy piano."
PIANO_AGAIN = "Mira owns a heavy old piano."
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def talk(ana: Agent) -> Talk:
    made = Talk(ana)
    made.learn(new(BAKERY), new(PIANO))
    return made


def look(browser: Client, fact: Fact, **query: Any) -> Any:
    """Return the answer with the fact's page, which must open."""
    answer = browser.get(page(Fact, "change", fact.id), query)
    assert answer.status_code == 200
    return answer


def read(browser: Client, fact: Fact, **query: Any) -> str:
    return html.unescape(look(browser, fact, **query).content.decode())


def plain(text: str) -> str:
    """Return a page's words without its tags."""
    return " ".join(re.sub(r"<[^>]*>", "", text).split())


def test_a_fact_shows_the_messages_that_say_it_among_their_neighbours(
    curator: Client, talk: Talk
) -> None:
    talk.learn(confirm(PIANO))
    context = look(curator, talk.fact(PIANO)).context
    shown = [
        [(message.seq, is_evidence) for message, is_evidence, _ in source.lines]
        for source in context["sources"]
    ]
    assert shown == [
        [(1, True), (2, False), (3, False), (4, False)],
        [(9, False), (10, True), (11, False), (12, False), (13, False)],
    ]
    text = read(curator, talk.fact(PIANO))
    said = Message.objects.of(talk.agent.tenant).get(seq=10)
    assert f"<mark>{said.content}</mark>" in text
    assert page(Message, "change", said.id) in text
    assert text.count(">says it<") == 2
    assert "the whole episode is evidence" not in text


def test_evidence_that_was_taken_back_is_shown_as_such(curator: Client, talk: Talk) -> None:
    first = talk.fact(PIANO).changeset
    talk.learn(confirm(PIANO))
    undo = _revert(talk, first.id)
    sources = look(curator, talk.fact(PIANO)).context["sources"]
    assert [source.withdrawn_by for source in sources] == [None, undo]


def _revert(talk: Talk, changeset_id: uuid.UUID) -> Any:
    return reverts.revert_changeset(act=act(talk.agent), changeset_id=changeset_id)


def test_who_may_not_read_sees_masks_and_the_way_to_have_it_shown(
    auditor: Client, talk: Talk
) -> None:
    text = read(auditor, talk.fact(PIANO))
    for message in Message.objects.of(talk.agent.tenant):
        assert message.content not in text
    assert "••••••" in text and f"/admin/reveal/{talk.row().id}/" in text
    assert PIANO in text
    way = f"/admin/reveal/{talk.row().id}/"
    auditor.post(way, {"reason": "A complaint.", "next": page(Fact, "change", talk.fact(PIANO).id)})
    said = Message.objects.of(talk.agent.tenant).get(seq=1)
    assert said.content in read(auditor, talk.fact(PIANO))


def test_only_who_may_curate_sees_buttons(curator: Client, auditor: Client, talk: Talk) -> None:
    ways = ("invalidate", "correct")
    held = talk.fact(PIANO)
    for way in ways:
        assert f"/admin/facts/{held.id}/{way}/" in read(curator, held)
        assert f"/admin/facts/{held.id}/{way}/" not in read(auditor, held)
    declare(talk, PIANO)
    assert f"/admin/facts/{held.id}/restore/" in read(curator, held)
    assert f"/admin/facts/{held.id}/correct/" not in read(curator, held)
    assert f"/admin/facts/{held.id}/restore/" not in read(auditor, held)


def test_operators_and_people_without_a_role_do_not_see_facts(
    operator: Client, nobody: Client, talk: Talk
) -> None:
    for browser in (operator, nobody):
        assert browser.get(page(Fact, "change", talk.fact(PIANO).id)).status_code == 403


def test_versions_stand_oldest_first_with_what_changed(curator: Client, talk: Talk) -> None:
    talk.learn(replace(BAKERY, HARBOUR))
    correct(talk, HARBOUR, ROTTERDAM)
    for sentence in (BAKERY, HARBOUR, ROTTERDAM):
        versions = look(curator, talk.fact(sentence)).context["versions"]
        assert [version.fact for version, _ in versions] == [BAKERY, HARBOUR, ROTTERDAM]
        shown = next(str(shown) for version, shown in versions if version.fact == sentence)
        text = read(curator, talk.fact(sentence))
        assert text.count('<li aria-current="true">') == text.count('<p><b class="fact-diff">') == 1
        assert f'<p><b class="fact-diff">{shown}</b>' in text
        assert "<del>Antwerp</del><ins>Rotterdam</ins>" in seen(versions[2][1])
        assert versions[0][1] == BAKERY
    assert look(curator, talk.fact(PIANO)).context["versions"] == []


def test_the_history_says_who_did_what_and_why(curator: Client, talk: Talk) -> None:
    declare(talk, PIANO)
    talk.learn(new(PIANO))
    history = look(curator, talk.fact(PIANO)).context["history"]
    told = [(one.what, one.changeset.actor, one.before, one.after) for one in history]
    assert told == [
        ("created", "worker", "", "active"),
        ("declared wrong", "lin", "active", "wrong"),
        ("unchanged", "worker", "", ""),
    ]
    text = plain(read(curator, talk.fact(PIANO)))
    assert "Mira said so herself." in text and "declared wrong by hand" in text


def test_a_wrong_fact_says_how_often_it_was_suppressed(curator: Client, talk: Talk) -> None:
    assert "Suppressed" not in read(curator, talk.fact(PIANO))
    declare(talk, PIANO)
    for _ in range(3):
        talk.learn(new(PIANO))
    text = plain(read(curator, talk.fact(PIANO)))
    assert "Suppressed3 times" in text and "True in the worldnever" in text


def test_near_facts_are_those_of_the_conversation_nearest_first(
    curator: Client, talk: Talk, cleo: Agent
) -> None:
    stranger = Talk(cleo)
    stranger.learn(new(PIANO))
    talk.learn(new(PIANO_AGAIN))
    near = look(curator, talk.fact(PIANO)).context["near"]
    assert [fact.fact for fact, _ in near] == [PIANO_AGAIN, BAKERY]
    assert 1 > near[0][1] > near[1][1] > 0
    assert look(curator, stranger.fact(PIANO)).context["near"] == []


def test_exposures_say_which_answers_served_it_to_whom(
    curator: Client, operator: Client, talk: Talk, bo: Agent
) -> None:
    question = {"conversation_id": str(talk.id), "query": "Who owns a piano?"}
    for _ in range(52):
        assert bo.post("retrieve_memory", question).status_code == 200
    context = look(curator, talk.fact(PIANO)).context
    assert (context["exposed"], len(context["exposures"])) == (52, 50)
    newest = context["exposures"][0].retrieval
    assert (newest.query, newest.asked_by.name) == ("Who owns a piano?", "bo")
    text = read(curator, talk.fact(PIANO))
    assert f"/admin/case-file/{newest.id}/" in text
    assert "The newest 50 of 52." in plain(text)


def test_nothing_that_somebody_wrote_runs_as_a_script(
    curator: Client, ana: Agent, talk: Talk
) -> None:
    ana.say(talk.id, f"I like {SCRIPT} very much.")
    talk.learn(new(f"Mira likes {SCRIPT}."))
    fact = talk.fact(f"Mira likes {SCRIPT}.")
    better = correct(talk, fact.fact, f"Mira loves {SCRIPT}.", keywords=[SCRIPT])
    curation.invalidate_facts(
        act=act(ana, f"Because {SCRIPT}."), fact_ids=[better.id], because=Fact.Because.WRONG
    )
    for one in (fact, better):
        text = look(curator, one).content.decode()
        assert SCRIPT not in text and html.escape(SCRIPT) in text


def test_a_fact_that_was_imported_without_evidence_says_so(curator: Client, talk: Talk) -> None:
    Evidence.objects.of(talk.agent.tenant).filter(fact=talk.fact(PIANO)).delete()
    assert "imported without evidence" in read(curator, talk.fact(PIANO))


def test_a_fact_that_is_not_there_is_not_found(curator: Client, talk: Talk) -> None:
    for way in ("invalidate", "restore", "correct"):
        assert curator.post(f"/admin/facts/{uuid.uuid4()}/{way}/").status_code == 404
        assert curator.post(f"/admin/facts/none/{way}/").status_code == 404


@pytest.mark.parametrize("done", ["", "none", str(uuid.UUID(int=7)), "\x00"])
def test_an_address_that_names_no_act_of_ones_own_offers_no_undo(
    curator: Client, talk: Talk, done: str
) -> None:
    assert look(curator, talk.fact(PIANO), done=done).context["done"] is None


def test_what_somebody_else_did_is_not_offered_to_be_undone_at_once(
    curator: Client, talk: Talk
) -> None:
    changeset = declare(talk, PIANO)
    answer = look(curator, talk.fact(PIANO), done=str(changeset.id))
    assert answer.context["done"] is None


@pytest.mark.gate
def test_a_page_costs_as_many_queries_for_much_as_for_little(curator: Client, talk: Talk) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as asked:
            look(curator, talk.fact(PIANO))
        return len(asked)

    look(curator, talk.fact(PIANO))
    question = {"conversation_id": str(talk.id), "query": "Who owns a piano?"}
    talk.agent.post("retrieve_memory", question)
    little = count()
    for _ in range(3):
        talk.learn(confirm(PIANO), new(f"Mira owns {uuid.uuid4()}."))
        talk.agent.post("retrieve_memory", question)
    assert Change.objects.of(talk.agent.tenant).filter(memory_id=talk.fact(PIANO).id).count() == 4
    assert count() == little <= 38
