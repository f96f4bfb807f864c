"""What changesets, case files, lists and past moments say of each act, against what happened."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memoryproject.database.clock import read_database_clock
from semantic import curation
from semantic.models import Changeset, Fact, Suggestion
from semantic.reverts import revert_changeset
from semantic.services import NewFact, open_facts
from tests.admin.pages import page, seen
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.semantic.learning import (
    Talk,
    act,
    confirm,
    contradicts,
    end,
    new,
    repeats,
    replace,
)
from tests.semantic.test_curation import correct, declare, restore
from wings.forgetting import facts as forgetting

pytestmark = pytest.mark.django_db(transaction=True)  # in one transaction the clock stands still

GHENT, PORTO = "Emil lives in Ghent.", "Emil lives in Porto."
PIANO, PIANO_TOO = "Emil owns a piano.", "Emil owns a very heavy piano."
TO_PORTO = "Emil lives in [Ghent][Porto]."
TO_PIANO = "Emil owns a [][very heavy ]piano."


@pytest.fixture
def talk(ana: Agent) -> Talk:
    talk = Talk(ana)
    talk.learn(new(GHENT), new(PORTO), hints=[contradicts(GHENT, PORTO)])
    talk.learn(new(PIANO), new(PIANO_TOO), hints=[repeats(PIANO, PIANO_TOO)])
    return talk


def decide(talk: Talk, sentence: str, *, accepts: bool = True) -> Changeset:
    row = Suggestion.objects.of(talk.agent.tenant).get(old_fact=talk.fact(sentence))
    change = forgetting.accept_suggestion if accepts else forgetting.decline_suggestion
    decided = change(act=act(talk.agent), suggestion_id=row.id).decided_by
    assert decided is not None
    return decided


def leave_pending(talk: Talk) -> Fact:
    """Put a fact like Emil's home into the review queue."""
    ledger = curation.open_ledger(act(talk.agent), talk.row())
    like = talk.fact(GHENT)
    row = Fact(fact="Emil likes rain.", category=like.category, valid_at=like.valid_at)

    (fact,) = open_facts([NewFact(row, [], None)], ledger=ledger, is_pending=True)
    ledger.close()
    return fact


def approve(talk: Talk) -> Changeset:
    pending = leave_pending(talk)
    return curation.approve_facts(act=act(talk.agent), fact_ids=[pending.id])[0]


def reject(talk: Talk) -> Changeset:
    pending = leave_pending(talk)
    return curation.reject_facts(act=act(talk.agent), fact_ids=[pending.id])[0]


def forget(talk: Talk) -> Changeset:
    forgetting.forget(act=act(talk.agent), fact_ids=[talk.fact(PORTO).id])
    return Changeset.objects.of(talk.agent.tenant).filter(kind="curation").latest("id")


def undo(talk: Talk, changeset: Changeset) -> Changeset:
    return revert_changeset(act=act(talk.agent), changeset_id=changeset.id)


ACTS: dict[str, tuple[Callable[[Talk], Changeset], list[str], dict[str, list[str]]]] = {
    "accept a contradiction": (
        lambda talk: decide(talk, GHENT),
        [f"replaced by another fact {GHENT} replaced by {TO_PORTO} active → superseded"],
        {GHENT: ["replaced by another fact", TO_PORTO], PORTO: ["replaced another"]},
    ),
    "accept a duplicate": (
        lambda talk: decide(talk, PIANO),
        [
            f"repeated in other words {PIANO_TOO} as it was",
            f"replaced by another fact {PIANO} replaced by {TO_PIANO} active → superseded",
        ],
        {
            PIANO: ["replaced by another fact", TO_PIANO],
            PIANO_TOO: ["repeated in other words", "replaced another"],
        },
    ),
    "decline": (
        lambda talk: decide(talk, GHENT, accepts=False),
        [f"unchanged {GHENT} beside {PORTO} as it was"],
        {GHENT: ["unchanged"], PORTO: ["unchanged"]},
    ),
    "replace in a run": (
        lambda talk: talk.learn(replace(GHENT, "Emil lives in Graz.")),
        [f"replaced another Emil lives in [Ghent][Graz]. replaced {GHENT} active"],
        {GHENT: ["replaced by another fact", "Emil lives in [Ghent][Graz]."]},
    ),
    "confirm in a run": (
        lambda talk: talk.learn(confirm(GHENT)),
        [f"confirmed {GHENT} as it was"],
        {GHENT: ["confirmed"]},
    ),
    "end in a run": (
        lambda talk: talk.learn(end(GHENT)),
        [f"retired {GHENT} active → superseded"],
        {GHENT: ["retired"]},
    ),
    "correct": (
        lambda talk: correct(talk, GHENT, "Emil lives in Graz.").changeset,
        [f"replaced another Emil lives in [Ghent][Graz]. replaced {GHENT} active"],
        {GHENT: ["declared wrong, replaced by another fact", "Emil lives in [Ghent][Graz]."]},
    ),
    "declare wrong": (
        lambda talk: declare(talk, GHENT),
        [f"declared wrong {GHENT} active → wrong"],
        {GHENT: ["declared wrong"]},
    ),
    "restore": (
        lambda talk: [declare(talk, GHENT), restore(talk, GHENT)][1],
        [f"restored {GHENT} wrong → active"],
        {GHENT: ["declared wrong", "restored"]},
    ),
    "approve": (approve, ["approved Emil likes rain. waiting → active"], {}),
    "reject": (reject, ["rejected Emil likes rain. waiting → wrong"], {}),
    "forget": (
        forget,
        [
            f"retired {PORTO} active → forgotten",
            f"suggested to curators {PORTO} as it was",
        ],
        {PORTO: ["retired", "suggested to curators"]},
    ),
    "undo accepting": (
        lambda talk: undo(talk, decide(talk, GHENT)),
        [f"restored {GHENT} superseded → active"],
        {GHENT: ["replaced by another fact", TO_PORTO, "restored"]},
    ),
    "undo undoing": (
        lambda talk: undo(talk, undo(talk, decide(talk, GHENT))),
        [f"replaced by another fact {GHENT} replaced by {TO_PORTO} active → superseded"],
        {GHENT: ["replaced by another fact", TO_PORTO, "restored"]},
    ),
    "undo a run": (
        lambda talk: undo(talk, Changeset.objects.of(talk.agent.tenant).earliest("id")),
        [f"undone {PORTO} active → reverted", f"undone {GHENT} active → reverted"],
        {GHENT: ["undone"]},
    ),
}


@pytest.mark.parametrize("name", ACTS)
def test_each_act_is_told_as_it_happened(curator: Client, talk: Talk, name: str) -> None:
    do, rows, later = ACTS[name]
    body = {"conversation_id": str(talk.id), "query": "Where does Emil live, what has he?"}
    receipt = talk.agent.post("retrieve_memory", body).headers["Memory-Receipt"]
    then = read_database_clock()
    changeset = do(talk)
    table = read(curator, page(Changeset, "change", changeset.id)).split("change-table")[1]
    shown = [plain(row) for row in table.split("<tbody>")[1].split("</tbody>")[0].split("</tr>")]
    notes = {plain(one) for one in re.findall(r"<br><span[^>]*>(.*?)</span>", table)}
    for note in notes:
        shown = [row.replace(f" {note}", "", 1) for row in shown]
    assert [re.sub(r"^\d+ ", "", row) for row in shown if row] == rows
    case = read(curator, reverse("console:case", args=[receipt]))
    for sentence, words in later.items():
        told = case.split(f'id="fact-{talk.fact(sentence).id}"')[1].split("</section>")[0]
        for word in words:
            assert word in plain(told), (sentence, word)
        history = read(curator, page(Fact, "change", talk.fact(sentence).id))
        assert words[0] in plain(history.split('id="history-h"')[1])
    if name != "forget":  # what is to be forgotten is shown of no moment
        check_then(curator, talk, then)


def check_then(curator: Client, talk: Talk, then: Any) -> None:
    """Check that the page of the moment before shows all as active, and that of now as it is."""
    place = reverse("admin:episodic_conversation_change", args=[talk.row().id])
    before = beside(read(curator, place, as_of=then.isoformat()))
    assert {GHENT, PORTO, PIANO, PIANO_TOO} == set(before)
    assert not any(state for state in before.values()), before
    facts = Fact.objects.of(talk.agent.tenant).exclude(invalidated_because="")
    for fact, state in beside(read(curator, place)).items():
        retired = facts.filter(fact=fact).first()
        assert bool(state) == (retired is not None), fact


def beside(text: str) -> dict[str, str]:
    """Return the facts beside messages, and the badge of each, empty where it is active."""
    facts = [one.split("</li>")[0] for one in text.split('class="learnt-fact"')[1:]]
    badges = (re.search(r"console-badge[^>]*>([^<]*)<", one) for one in facts)
    said = (plain(one.split(">", 1)[1].split("</a>")[0]) for one in facts)
    return {fact: badge[1] if badge else "" for fact, badge in zip(said, badges, strict=True)}


def read(browser: Client, address: str, **query: Any) -> str:
    answer = browser.get(address, query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def plain(text: str) -> str:
    """Return a page's words without its tags; what a difference deletes and inserts in brackets."""
    text = re.sub(r"<del>(.*?)</del><ins>(.*?)</ins>", r"[\1][\2]", seen(text))
    text = re.sub(r"<ins>(.*?)</ins>", r"[][\1]", text)
    text = re.sub(r"<(td|p|br|th|tr|b|li)\b[^>]*>", " ", text)
    text = html.unescape(re.sub(r"<[^>]*>", "", text))
    return " ".join(text.split())
