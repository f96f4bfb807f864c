"""Curators decide on suggestions in one queue with what waits for approval; auditors look."""

from __future__ import annotations

import html
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from episodic.models import Message
from retrieval.models import MemoryTest
from semantic.models import CorrectionMark, Evidence, Fact, Suggestion, Triage
from tests.admin.pages import page, seen
from tests.conftest import Agent
from tests.console.home.test_home import open_home, read_tiles
from tests.erasure.lives import erase
from tests.semantic.learning import Talk, confirm, contradicts, new, repeats
from tests.semantic.test_curation import declare
from tests.talk import MOVING

pytestmark = pytest.mark.django_db

BAKERY = "Mira works at a bakery in Ghent."
HARBOUR = "Mira works at the harbour authority in Rotterdam."
PIANO = "Mira owns a very heavy piano."
TOE = "Jonas broke his toe."
LEFT = '<b data-count="left">{}</b> to decide on'
TENANT = {"tenant": "ana's"}


@pytest.fixture(scope="module")
def talk(ana: Agent) -> Talk:
    made = Talk(ana)
    made.learn(new(BAKERY), new(PIANO), new(TOE))
    made.learn(new(HARBOUR), hints=[contradicts(BAKERY, HARBOUR)])
    return made


def read(browser: Client, **query: Any) -> str:
    answer = browser.get(reverse("console:review_queue"), {**TENANT, **query})
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def decide(browser: Client, decision: str, **more: Any) -> Any:
    """Decide on the newest suggestion, as its form does; its new fact is chosen."""
    row = Suggestion.across_tenants.order_by("-id").select_related("old_fact", "new_fact")[0]
    entry = ",".join(f"{fact.id}:{fact.version}" for fact in (row.old_fact, row.new_fact))
    form = {**TENANT, "entry": f"{row.kind}:{entry}", "decision": decision}
    form |= {"holds": row.new_fact_id, **more}
    return browser.post(reverse("console:review_decide"), form)


def test_an_entry_shows_both_facts_their_days_and_where_they_were_said(
    curator: Client, talk: Talk
) -> None:
    text = read(curator)
    assert "Mira · works: Which holds?" in text
    assert "they say different things about the same detail" in text
    for sentence in (BAKERY, HARBOUR):
        fact = talk.fact(sentence)
        assert f'href="{page(Fact, "change", fact.id)}">{sentence}</a>' in text
        assert f"true from {fact.valid_at:%Y-%m-%d}" in text
    assert page(type(talk.row()), "change", talk.row().id) + "?seq=1#e1" in text
    assert f"<b>Mira (user)</b>: {MOVING[0][1]}" in text
    assert "superseded by what is" in text and LEFT.format(1) in text


@pytest.mark.parametrize("reason", ["", "She told us."])
def test_a_curator_accepts_an_entry_and_is_told_how_to_undo_it(
    reason: str, curator: Client, talk: Talk
) -> None:
    answer = decide(curator, "choose", reason=reason)
    made = Suggestion.across_tenants.get().decided_by
    queue = f"{reverse('console:review_queue')}?tenant=ana%27s"
    assert answer["Location"] == f"{queue}&done={made.id}"
    assert made.actor == "curator"
    assert made.reason == (reason or "Chose what holds in the review queue.")
    assert talk.held() == {HARBOUR, PIANO, TOE}
    text = read(curator, done=made.id)
    assert page(type(made), "change", made.id) in text and "Nothing is to be decided" in text
    assert 'data-count="mine">1</b>' in text
    undo = reverse("console:changeset_revert", args=[made.id])
    assert f'action="{undo}"' in text and 'data-key="u"' in text
    curator.post(undo, {"undo-reason": "undone at once", "next": queue})
    assert BAKERY in talk.held() and LEFT.format(1) in read(curator, done=made.id)
    assert 'data-count="mine">0</b>' in read(curator)


def test_a_curator_merges_two_facts_that_only_seem_to_contradict(
    curator: Client, talk: Talk
) -> None:
    assert decide(curator, "merge").status_code == 302
    assert BAKERY not in talk.held() and HARBOUR in talk.held()
    assert len(read_support(talk, HARBOUR)) >= len(read_support(talk, BAKERY)) > 0


def test_a_curator_corrects_either_fact_in_the_queue(curator: Client, talk: Talk) -> None:
    fact = talk.fact(HARBOUR)
    entry = f"fact:{fact.id}:{fact.version}"
    for odd in ({"sentence": ""}, {"sentence": HARBOUR}, {"entry": f"fact:{fact.id}:99"}):
        form = {"entry": entry, "sentence": "Mira works at sea.", **odd}
        assert decide(curator, "correct", **form).status_code == 400
    answer = decide(curator, "correct", entry=entry, sentence="Mira works at sea.")
    assert answer.status_code == 302 and "done=" in answer["Location"]
    assert "Mira works at sea." in talk.held() and HARBOUR not in talk.held()
    assert 'data-count="team">0</b>' in read(curator), "a correction answers no question"


def test_a_curator_declines_an_entry(curator: Client, talk: Talk) -> None:
    assert decide(curator, "all").status_code == 302
    assert {BAKERY, HARBOUR} <= talk.held() and "Nothing is to be decided" in read(curator)


def test_what_cannot_be_decided_is_said_beside_the_queue(curator: Client, talk: Talk) -> None:
    for odd in (
        {"decision": "sell"},
        {"entry": "contradiction:nobody"},
        {"entry": f"odd:{talk.id}"},
        {"entry": f"contradiction:{talk.id}:1"},
        {"entry": f"erase:{talk.id}"},
        {"reason": "x" * 2_001},
        {"reason": "a\x00b"},
    ):
        answer = (
            decide(curator, "choose", **odd)
            if "decision" not in odd
            else decide(curator, odd["decision"])
        )
        assert answer.status_code == 400 and 'role="alert"' in answer.content.decode()
    assert {BAKERY, HARBOUR} <= talk.held()
    declare(talk, BAKERY)
    answer = decide(curator, "choose")
    assert answer.status_code == 400 and "no longer open" in answer.content.decode()


def read_support(talk: Talk, sentence: str) -> list[Any]:
    """Return the ids of the episodes that a fact has as evidence."""
    rows = Evidence.across_tenants.filter(fact=talk.fact(sentence), withdrawn_by=None)
    return list(rows.values_list("episode", flat=True))


def post(browser: Client, decision: str, fact: Fact, **more: str) -> Any:
    form = {**TENANT, "about": str(fact.id), "decision": decision, **more}
    return browser.post(reverse("console:review_decide"), form)


def test_what_was_served_more_often_comes_first(curator: Client, talk: Talk) -> None:
    talk.learn(new("Jonas sings."), hints=[contradicts(TOE, "Jonas sings.")])
    text = read(curator)
    assert text.index(TOE) < text.index(BAKERY) and "served 1" not in text
    for _ in range(2):
        talk.agent.post(
            "retrieve_memory",
            {"conversation_id": str(talk.row().external_id), "query": BAKERY, "semantic_limit": 1},
        )
    text = read(curator)
    assert text.index(BAKERY) < text.index(TOE) and "served 2 times" in text


def test_a_rule_that_was_right_comes_before_one_that_was_not(curator: Client, talk: Talk) -> None:
    decide(curator, "all")
    talk.learn(new("Jonas sings."), hints=[repeats(PIANO, "Jonas sings.")])
    talk.learn(new("Jonas hums."), hints=[contradicts(TOE, "Jonas hums.")])
    text = read(curator)
    assert text.index(PIANO) < text.index(TOE)
    rates = text[text.index("What the rules are worth") :]
    assert "<td>same_slot</td><td>1</td><td>0 %</td><td>no" in rates


def test_what_is_snoozed_waits_and_can_be_brought_back(curator: Client, talk: Talk) -> None:
    fact = talk.fact(BAKERY)
    assert post(curator, "snooze", fact).status_code == 302
    assert BAKERY not in read(curator) and BAKERY in read(curator, aside="1")
    Triage.across_tenants.update(snoozed_until=timezone.now() - timedelta(minutes=1))
    assert BAKERY in read(curator) and BAKERY not in read(curator, aside="1")
    post(curator, "snooze", fact)
    post(curator, "return", fact)
    assert BAKERY in read(curator)


def test_a_fact_that_names_nobody_is_kept_by_one_key(curator: Client, talk: Talk) -> None:
    talk.learn(new("She is a baker."))
    text = read(curator)
    assert "Whom is this about?" in text
    buttons = seen(read(curator, fact=talk.fact("She is a baker.").id))
    assert "Keep as it is <kbd>a</kbd>" in buttons
    post(curator, "keep", talk.fact("She is a baker."))
    assert "Whom is this about?" not in read(curator) and "She is a baker." in talk.held()


def test_a_note_says_who_does_it_and_why(curator: Client, talk: Talk) -> None:
    fact = talk.fact(BAKERY)
    post(curator, "note", fact, assignee="curator", comment="Ask Mira.")
    assert "Ask Mira." in read(curator) and BAKERY in read(curator, mine="1")
    post(curator, "note", fact, assignee="somebody", comment="")
    assert BAKERY not in read(curator, mine="1")
    for odd in ({"comment": "x" * 501}, {"about": str(talk.id)}, {"about": "nobody"}):
        answer = post(curator, "note", fact, **{"assignee": "", "comment": "", **odd})
        assert answer.status_code == 400 and 'role="alert"' in answer.content.decode()
    assert Triage.across_tenants.get().assignee == "somebody"


def test_comments_go_with_what_they_are_about(curator: Client, talk: Talk) -> None:
    post(curator, "note", talk.fact(BAKERY), assignee="", comment="The bakery in Ghent.")
    message = Message.objects.of(talk.agent.tenant).order_by("seq")[0]
    assert erase(talk.agent, "message", message.id).status_code == 200
    assert not Triage.across_tenants.exclude(comment="").exists()
    assert erase(talk.agent, "conversation", talk.id).status_code == 200
    assert not Triage.across_tenants.exists()


def test_corrections_to_confirm_and_red_tests_are_in_the_queue(curator: Client, talk: Talk) -> None:
    row, fact = talk.row(), talk.fact(TOE)
    CorrectionMark.objects.create(
        tenant=row.tenant,
        conversation=row,
        fact=fact,
        changeset=fact.changeset,
        place=CorrectionMark.Place.FACT,
        place_id=talk.fact(PIANO).id,
        found_by=CorrectionMark.FoundBy.WORDS,
        state=CorrectionMark.State.PROPOSED,
    )
    test = MemoryTest.objects.create(
        tenant=row.tenant, conversation=row, query="Who sings?", broken_by=fact.changeset_id
    )
    text = read(curator)
    assert "Corrected: do other places still say the old?" in text and "#marks" in text
    assert page(MemoryTest, "change", test.id) in text and "Who sings?" in text
    assert read_tiles(open_home(curator))["Review queue"] == "3"


@pytest.mark.gate
def test_the_newest_come_first_and_only_so_many(curator: Client, talk: Talk) -> None:
    hats = [f"Mira has {number} hats." for number in range(21)]
    cats = [f"Jonas has {number} cats." for number in range(21)]
    for some in (slice(10), slice(10, 21)):  # a run takes only so many facts
        hints = [*map(contradicts, hats[some], cats[some])]
        talk.learn(*map(new, hats[some] + cats[some]), hints=hints)
    text = read(curator)
    assert LEFT.format(22) in text and text.count("<article") == 20
    assert text.index(hats[20]) < text.index(hats[19])
    assert hats[1] in text and hats[0] not in text and HARBOUR not in text


def test_the_queue_is_narrowed_to_one_fact_from_its_page(curator: Client, talk: Talk) -> None:
    talk.learn(confirm(TOE), hints=[repeats(PIANO, TOE), contradicts(TOE, None)])
    fact = talk.fact(PIANO)
    about = html.unescape(curator.get(page(Fact, "change", fact.id)).content.decode())
    address = f"{reverse('console:review_queue')}?tenant=ana%27s&fact={fact.id}"
    assert "1 open suggestion about it" in about and f'href="{address}"' in about
    text = html.unescape(curator.get(address).content.decode())
    assert "Do they say the same?" in text and HARBOUR not in text
    buttons = seen(text)
    assert "keep what is chosen" in buttons and "They differ: keep all" in buttons
    text = read(curator, fact=talk.fact(TOE).id)
    assert "Does it still hold?" in text and "suggested to curators" in html.unescape(
        curator.get(page(Fact, "change", talk.fact(TOE).id)).content.decode()
    )


def test_a_fact_that_may_be_contradicted_says_so_and_the_new_one_does_not(
    curator: Client, talk: Talk
) -> None:
    old, new = (
        html.unescape(curator.get(page(Fact, "change", talk.fact(sentence).id)).content.decode())
        for sentence in (BAKERY, HARBOUR)
    )
    assert f"May be contradicted:</strong> {HARBOUR}" in old
    assert "May be contradicted" not in new
    decide(curator, "all")
    old = curator.get(page(Fact, "change", talk.fact(BAKERY).id)).content.decode()
    assert "May be contradicted" not in old


def test_an_auditor_sees_the_queue_without_what_was_said_and_decides_nothing(
    auditor: Client, talk: Talk
) -> None:
    text = read(auditor)
    assert HARBOUR in text and MOVING[0][1] not in text and 'name="decision"' not in text
    assert decide(auditor, "choose").status_code == 403
    assert BAKERY in talk.held()


def test_home_counts_the_queue_and_leads_to_it(curator: Client, talk: Talk) -> None:
    answer = open_home(curator)
    assert read_tiles(answer)["Review queue"] == "1"
    tile = next(tile for tile in answer.context["tiles"] if tile.title == "Review queue")
    assert HARBOUR in curator.get(tile.href).content.decode()
    decide(curator, "all")
    assert read_tiles(open_home(curator))["Review queue"] == "0"


def test_another_tenants_entry_is_not_decided_on(curator: Client, talk: Talk, cleo: Agent) -> None:
    assert decide(curator, "choose", tenant=cleo.tenant.name).status_code == 400
    assert BAKERY in talk.held()


TOWNS = [f"Ana lives in {town}." for town in ("Bergen", "Ghent", "Graz", "Oslo")]


@pytest.fixture
def moves(ana: Agent) -> Talk:
    """A conversation that names four towns, each suggested to replace those before it."""
    moves = Talk(ana)
    for place, town in enumerate(TOWNS):
        moves.later = timedelta(days=5 * place)
        hints = [contradicts(old, town) for old in TOWNS[:place]]
        moves.learn(new(town), hints=hints)
    return moves


def answer_towns(browser: Client, moves: Talk, decision: str, *holds: str, **headers: str) -> Any:
    facts = [moves.fact(town) for town in TOWNS]
    entry = ",".join(f"{fact.id}:{fact.version}" for fact in facts)
    form = {**TENANT, "entry": f"contradiction:{entry}", "decision": decision}
    chosen = [str(moves.fact(town).id) for town in holds]
    address = reverse("console:review_decide")
    return browser.post(address, {**form, "holds": chosen}, headers=headers)


def test_one_answer_to_a_question_of_four_towns_leaves_one_and_one_undo_brings_all_back(
    curator: Client, moves: Talk
) -> None:
    text = read(curator, fact=moves.fact(TOWNS[0]).id)
    assert text.count("<article") == 1 and "Ana · lives: Which holds?" in text
    places = [text.index(f'aria-label="{town}"') for town in TOWNS]
    assert places == sorted(places)
    assert text.count(" checked>") == 1 and f'aria-label="{TOWNS[3]}" checked>' in text
    assert answer_towns(curator, moves, "choose", TOWNS[3]).status_code == 302
    asked = {"conversation_id": str(moves.id), "query": "Where does Ana live?"}
    answer = moves.agent.post("retrieve_memory", asked).content.decode()
    assert [town for town in TOWNS if town in answer] == [TOWNS[3]]
    spans = [(moves.fact(town).valid_until, moves.fact(town).superseded_by) for town in TOWNS[:3]]
    begun = [moves.fact(town).valid_at for town in TOWNS[1:]]
    assert spans == [(moment, moves.fact(TOWNS[3])) for moment in begun]
    (done,) = {row.decided_by for row in Suggestion.across_tenants.exclude(decision="")}
    undo = reverse("console:changeset_revert", args=[done.id])
    assert curator.post(undo, {"undo-reason": "undone at once"}).status_code == 302
    assert set(TOWNS) <= moves.held()
    assert read(curator, fact=moves.fact(TOWNS[0]).id).count("<article") == 1


@pytest.mark.parametrize(
    ("decision", "holds", "accepted"),
    [("all", [], 0), ("none", [], 6), ("choose", [0], 3), ("choose", [2, 3], 5)],
)
def test_of_four_towns_all_or_some_or_none_hold(
    curator: Client, moves: Talk, decision: str, holds: list[int], accepted: int
) -> None:
    chosen = [TOWNS[place] for place in holds]
    answer = answer_towns(curator, moves, decision, *chosen)
    assert answer.status_code == 302
    assert moves.held() == set(TOWNS if decision == "all" else chosen)
    rows = Suggestion.across_tenants.filter(conversation=moves.row())
    assert rows.filter(decision="accepted").count() == accepted
    assert rows.filter(decision="").count() == 0


def test_a_script_gets_what_takes_the_place_of_a_card_alone(curator: Client, moves: Talk) -> None:
    script = {"X-Requested-With": "fetch"}
    answer = answer_towns(curator, moves, "choose", TOWNS[3], **script)
    text = answer.content.decode()
    assert answer.status_code == 200 and 'data-key="u"' in text and "<html" not in text
    again = answer_towns(curator, moves, "choose", TOWNS[3], **script)
    text = again.content.decode()
    assert again.status_code == 400 and "no longer open" in text and "<html" not in text
    assert '<b data-count="mine">1</b> by you, <b data-count="team">1</b> by all' in read(curator)


def test_dangers_come_first(curator: Client, talk: Talk) -> None:
    nuts = ("Mira is allergic to nuts.", "Mira is not allergic to nuts.")
    talk.learn(*map(new, nuts), hints=[contradicts(*nuts)])
    for _ in range(2):
        talk.agent.post(
            "retrieve_memory",
            {"conversation_id": str(talk.row().external_id), "query": BAKERY, "semantic_limit": 1},
        )
    text = read(curator)
    assert text.index(nuts[0]) < text.index(BAKERY) and "guideline or danger" in text
