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


def decide(browser: Client, decision: str, **more: str) -> Any:
    """Decide on the newest suggestion, as its form does."""
    newest = Suggestion.across_tenants.order_by("-id")[0]
    form = {**TENANT, "entry": f"suggestion:{newest.id}", "decision": decision, **more}
    return browser.post(reverse("console:review_decide"), form)


def test_an_entry_shows_both_facts_their_days_and_where_they_were_said(
    curator: Client, talk: Talk
) -> None:
    text = read(curator)
    assert (
        "looks like a contradiction" in text
        and "they say different things about the same detail" in text
    )
    for sentence in (BAKERY, HARBOUR):
        fact = talk.fact(sentence)
        assert f'href="{page(Fact, "change", fact.id)}">{sentence}</a>' in text
        assert f"true from {fact.valid_at:%Y-%m-%d}" in text
    assert page(type(talk.row()), "change", talk.row().id) + "?seq=1#e1" in text
    assert f"<b>Mira (user)</b>: {MOVING[0][1]}" in text
    assert "superseded by the new one" in text and "1 to decide on" in text


@pytest.mark.parametrize("reason", ["", "She told us."])
def test_a_curator_accepts_an_entry_and_is_told_how_to_undo_it(
    reason: str, curator: Client, talk: Talk
) -> None:
    answer = decide(curator, "accept", reason=reason)
    made = Suggestion.across_tenants.get().decided_by
    queue = f"{reverse('console:review_queue')}?tenant=ana%27s"
    assert answer["Location"] == f"{queue}&done={made.id}"
    assert made.actor == "curator"
    assert made.reason == (reason or "Accepted in the review queue.")
    assert talk.held() == {HARBOUR, PIANO, TOE}
    text = read(curator, done=made.id)
    assert page(type(made), "change", made.id) in text and "Nothing is to be decided" in text
    undo = reverse("console:changeset_revert", args=[made.id])
    assert f'action="{undo}"' in text and 'data-key="u"' in text
    curator.post(undo, {"undo-reason": "undone at once", "next": queue})
    assert BAKERY in talk.held() and "1 to decide on" in read(curator, done=made.id)


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


def test_a_curator_declines_an_entry(curator: Client, talk: Talk) -> None:
    assert decide(curator, "decline").status_code == 302
    assert {BAKERY, HARBOUR} <= talk.held() and "Nothing is to be decided" in read(curator)


def test_what_cannot_be_decided_is_said_beside_the_queue(curator: Client, talk: Talk) -> None:
    for odd in (
        {"decision": "sell"},
        {"entry": "suggestion:nobody"},
        {"entry": f"odd:{talk.id}"},
        {"entry": f"suggestion:{talk.id}"},
        {"reason": "x" * 2_001},
        {"reason": "a\x00b"},
    ):
        answer = (
            decide(curator, "accept", **odd)
            if "decision" not in odd
            else decide(curator, odd["decision"])
        )
        assert answer.status_code == 400 and 'role="alert"' in answer.content.decode()
    assert {BAKERY, HARBOUR} <= talk.held()
    declare(talk, BAKERY)
    answer = decide(curator, "accept")
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
    assert text.index(TOE) < text.index(BAKERY) and "served" not in text
    for _ in range(2):
        talk.agent.post(
            "retrieve_memory",
            {"conversation_id": str(talk.row().external_id), "query": BAKERY, "semantic_limit": 1},
        )
    text = read(curator)
    assert text.index(BAKERY) < text.index(TOE) and "served 2 times" in text


def test_a_rule_that_was_right_comes_before_one_that_was_not(curator: Client, talk: Talk) -> None:
    decide(curator, "decline")
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
    assert "says not whom" in text and 'data-key="k"' in read(
        curator, fact=talk.fact("She is a baker.").id
    )
    post(curator, "keep", talk.fact("She is a baker."))
    assert "says not whom" not in read(curator) and "She is a baker." in talk.held()


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
    assert "corrected, perhaps not everywhere" in text and "#marks" in text
    assert page(MemoryTest, "change", test.id) in text and "Who sings?" in text
    assert read_tiles(open_home(curator))["Review queue"] == "3"


@pytest.mark.gate
def test_the_newest_come_first_and_only_so_many(curator: Client, talk: Talk) -> None:
    hats = [f"Mira has {number} hats." for number in range(21)]
    talk.learn(*map(new, hats), hints=[contradicts(PIANO, hat) for hat in hats])
    text = read(curator)
    assert "22 to decide on. These 20 matter most" in text
    assert text.index(hats[20]) < text.index(hats[19])
    assert hats[1] in text and hats[0] not in text and HARBOUR not in text


def test_the_queue_is_narrowed_to_one_fact_from_its_page(curator: Client, talk: Talk) -> None:
    talk.learn(confirm(TOE), hints=[repeats(PIANO, TOE), contradicts(TOE, None)])
    fact = talk.fact(PIANO)
    about = html.unescape(curator.get(page(Fact, "change", fact.id)).content.decode())
    address = f"{reverse('console:review_queue')}?tenant=ana%27s&fact={fact.id}"
    assert "1 open suggestion about it" in about and f'href="{address}"' in about
    text = html.unescape(curator.get(address).content.decode())
    assert "looks like a duplicate" in text and HARBOUR not in text
    buttons = seen(text)
    assert "Retire the shorter <kbd>a</kbd>" in buttons and "Keep both <kbd>d</kbd>" in buttons
    text = read(curator, fact=talk.fact(TOE).id)
    assert (
        "Retire it: the fact is no longer served." in text
        and "suggested to curators"
        in html.unescape(curator.get(page(Fact, "change", talk.fact(TOE).id)).content.decode())
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
    decide(curator, "decline")
    old = curator.get(page(Fact, "change", talk.fact(BAKERY).id)).content.decode()
    assert "May be contradicted" not in old


def test_an_auditor_sees_the_queue_without_what_was_said_and_decides_nothing(
    auditor: Client, talk: Talk
) -> None:
    text = read(auditor)
    assert HARBOUR in text and MOVING[0][1] not in text and 'value="accept"' not in text
    assert decide(auditor, "accept").status_code == 403
    assert BAKERY in talk.held()


def test_home_counts_the_queue_and_leads_to_it(curator: Client, talk: Talk) -> None:
    answer = open_home(curator)
    assert read_tiles(answer)["Review queue"] == "1"
    tile = next(tile for tile in answer.context["tiles"] if tile.title == "Review queue")
    assert HARBOUR in curator.get(tile.href).content.decode()
    decide(curator, "decline")
    assert read_tiles(open_home(curator))["Review queue"] == "0"


def test_another_tenants_entry_is_not_decided_on(curator: Client, talk: Talk, cleo: Agent) -> None:
    assert decide(curator, "accept", tenant=cleo.tenant.name).status_code == 400
    assert BAKERY in talk.held()
