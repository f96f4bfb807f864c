"""What curators do in the admin, alone or to many facts, and how they undo it."""

from __future__ import annotations

import html
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from semantic.models import Changeset, Fact
from semantic.reverts import find_revert
from tests.admin.pages import page, seen
from tests.conftest import Agent
from tests.semantic.learning import Talk, new
from tests.semantic.test_curation import declare, served

pytestmark = pytest.mark.django_db

BAKERY = "Mira works at a bakery in Ghent."
HARBOUR = "Mira works at the harbour authority in Rotterdam."
PIANO = "Mira owns a very heavy piano."
TOE = "Jonas broke his toe."
WHY = "Mira said so herself."
ANY = uuid.uuid4()
FACTS = page(Fact, "changelist")


@pytest.fixture(scope="module")
def talk(ana: Agent) -> Talk:
    made = Talk(ana)
    made.learn(new(BAKERY), new(PIANO), new(TOE))
    return made


def do(browser: Client, way: str, about: Fact, /, **given: Any) -> Any:
    """Post the form of an act on a fact, as its page has it."""
    form = {"version": about.version, "reason": WHY, **given}
    named = {f"{way}-{name}": value for name, value in form.items() if name != "preview"}
    if "preview" in form:
        named["preview"] = "1"
    return browser.post(f"/admin/facts/{about.id}/{way}/", named)


def correct(browser: Client, fact: Fact, better: str, **given: Any) -> Any:
    form = {"fact": better, "category": fact.category, "keywords": "", **given}
    return do(browser, "correct", fact, **form)


def errors(answer: Any) -> list[str]:
    """Return what is wrong with the form of a page that shows it again."""
    assert answer.status_code == 400
    return [said for saids in answer.context["form"].errors.values() for said in saids]


def newest() -> Changeset:
    return Changeset.across_tenants.order_by("-id")[0]


def test_a_curator_closes_a_fact_sees_it_gone_and_undoes_it(curator: Client, talk: Talk) -> None:
    fact = talk.fact(PIANO)
    answer = do(curator, "invalidate", fact, because="wrong")
    changeset = newest()
    assert (changeset.kind, changeset.actor, changeset.reason) == ("curation", "curator", WHY)
    assert answer["Location"] == f"{page(Fact, 'change', fact.id)}?done={changeset.id}"
    assert PIANO not in served(talk, "Who owns a piano?")
    shown = curator.get(answer["Location"])
    text = html.unescape(shown.content.decode())
    assert shown.context["done"] == changeset and f"Done: <q>{WHY}</q>" in text
    assert 'value="undone at once"' in text
    undone = curator.post(
        reverse("console:changeset_revert", args=[changeset.id]),
        {"undo-reason": "undone at once", "next": page(Fact, "change", fact.id)},
    )
    assert undone["Location"] == page(Fact, "change", fact.id)
    assert newest().reverts == changeset and newest().reason == "undone at once"
    assert PIANO in served(talk, "Who owns a piano?")
    assert curator.get(answer["Location"]).context["done"] is None, "it is undone by now"


def test_a_curator_restores_a_fact(curator: Client, talk: Talk) -> None:
    declare(talk, PIANO)
    answer = do(curator, "restore", talk.fact(PIANO))
    assert answer.status_code == 302 and PIANO in talk.held()
    assert newest().actor == "curator"


def test_a_curator_corrects_a_fact_and_looks_at_the_new_one(curator: Client, talk: Talk) -> None:
    fact = talk.fact(BAKERY)
    given = {"category": "experience", "keywords": "Mira, Rotterdam , ,harbour"}
    answer = correct(curator, fact, HARBOUR, **given)
    opened = talk.fact(HARBOUR)
    assert answer["Location"].startswith(page(Fact, "change", opened.id))
    assert (opened.category, opened.keywords) == ("experience", ["Mira", "Rotterdam", "harbour"])
    assert talk.held() == {HARBOUR, PIANO, TOE}
    shown = curator.get(answer["Location"])
    assert shown.context["back_to"] == fact, "undone, it is the old one that is looked at"


@pytest.mark.parametrize("keywords", ["", "Mira"])
def test_keywords_that_are_left_empty_or_as_they_were_follow_the_sentence(
    curator: Client, talk: Talk, keywords: str
) -> None:
    assert talk.fact(BAKERY).keywords == ["Mira"]
    correct(curator, talk.fact(BAKERY), HARBOUR, keywords=keywords)
    assert {"Mira", "Rotterdam"} <= set(talk.fact(HARBOUR).keywords)


def test_a_preview_shows_the_difference_and_does_nothing(curator: Client, talk: Talk) -> None:
    answer = correct(curator, talk.fact(BAKERY), BAKERY.replace("Ghent", "Bruges"), preview=True)
    assert answer.status_code == 200
    assert "<del>Ghent</del><ins>Bruges</ins>" in seen(answer.content.decode())
    assert talk.held() == {BAKERY, PIANO, TOE}


@pytest.mark.parametrize("reason", ["", "  ", "x" * 2_001, "a\x00b"])
@pytest.mark.parametrize("way", ["invalidate", "restore", "correct"])
def test_without_a_reason_the_form_comes_again_with_what_was_typed(
    curator: Client, talk: Talk, way: str, reason: str
) -> None:
    if way == "restore":
        declare(talk, PIANO)
    before = Changeset.across_tenants.count()
    given = {"because": "wrong", "fact": HARBOUR, "category": "goal", "keywords": "Rotterdam"}
    answer = do(curator, way, talk.fact(PIANO), **given, reason=reason)
    assert len(errors(answer)) == 1
    assert Changeset.across_tenants.count() == before
    if way == "correct":
        text = answer.content.decode()
        assert HARBOUR in text and 'value="goal" selected' in text


@pytest.mark.parametrize("because", ["", "erased", "reverted", "x", "wrong\x00"])
def test_a_fact_is_over_or_wrong_and_nothing_else(
    curator: Client, talk: Talk, because: str
) -> None:
    assert errors(do(curator, "invalidate", talk.fact(PIANO), because=because))
    assert PIANO in talk.held()


@pytest.mark.parametrize(
    "given",
    [
        {"better": ""},
        {"better": "x" * 1_001},
        {"better": "a\x00b"},
        {"better": PIANO},
        {"better": HARBOUR, "category": "weather"},
        {"better": HARBOUR, "keywords": ", ".join(str(number) for number in range(21))},
        {"better": HARBOUR, "keywords": "x" * 101},
        {"better": HARBOUR, "version": ""},
        {"better": HARBOUR, "version": "x"},
        {"better": HARBOUR, "version": "9" * 30},
        {"better": HARBOUR, "version": "-1"},
    ],
)
def test_a_correction_that_cannot_be_made_says_why(
    curator: Client, talk: Talk, given: dict[str, str]
) -> None:
    assert errors(correct(curator, talk.fact(BAKERY), **given))
    assert talk.held() == {BAKERY, PIANO, TOE}


@pytest.mark.parametrize("way", ["invalidate", "correct"])
def test_what_has_changed_since_it_was_looked_at_is_left_alone(
    curator: Client, talk: Talk, way: str
) -> None:
    seen = talk.fact(BAKERY)
    declare(talk, BAKERY)
    given = {"because": "superseded", "fact": HARBOUR, "category": "goal", "keywords": ""}
    answer = do(curator, way, seen, **given)
    assert errors(answer)
    assert "has changed since you opened the form" in answer.content.decode()
    assert newest().actor == "lin" and HARBOUR not in talk.held()


def test_an_act_is_posted(curator: Client, talk: Talk) -> None:
    fact = talk.fact(PIANO)
    for way in ("invalidate", "restore", "correct"):
        answer = curator.get(f"/admin/facts/{fact.id}/{way}/")
        assert answer["Location"] == f"{page(Fact, 'change', fact.id)}#{way}"
    assert PIANO in talk.held()


def test_only_curators_and_superusers_act(
    talk: Talk, auditor: Client, operator: Client, nobody: Client, visitor: Client, boss: Client
) -> None:
    fact, changeset = talk.fact(PIANO), newest()
    acts: list[Callable[[Client], Any]] = [
        lambda browser: do(browser, "invalidate", fact, because="wrong"),
        lambda browser: do(browser, "restore", fact),
        lambda browser: correct(browser, fact, HARBOUR),
        lambda browser: curate(browser, "invalidate", [fact]),
        lambda browser: curate(browser, "restore", [fact]),
        lambda browser: browser.post(f"/admin/changesets/{changeset.id}/revert/", {}),
        lambda browser: browser.get(f"/admin/changesets/{changeset.id}/revert/"),
    ]
    for act in acts:
        for browser in (auditor, operator, nobody):
            assert act(browser).status_code == 403
        assert act(visitor)["Location"].startswith("/admin/login/")
    assert talk.held() == {BAKERY, PIANO, TOE}
    assert do(boss, "invalidate", fact, because="wrong").status_code == 302


def test_a_form_from_elsewhere_is_refused(talk: Talk, curator: Client) -> None:
    strict = Client(SERVER_NAME="localhost", enforce_csrf_checks=True)
    strict.cookies = curator.cookies
    assert do(strict, "invalidate", talk.fact(PIANO), because="wrong").status_code == 403
    assert PIANO in talk.held()


# ---- many at once


def mark(browser: Client, action: str, facts: list[Fact]) -> Any:
    """Choose an action for rows of the list."""
    chosen = {"action": action, "_selected_action": [str(fact.id) for fact in facts]}
    return browser.post(FACTS, chosen)


def curate(browser: Client, way: str, facts: list[Fact], /, **given: Any) -> Any:
    """Post the preview's form."""
    marked = ",".join(f"{fact.id}:{fact.version}" for fact in facts)
    form = {"facts": marked, "reason": WHY, "because": "wrong", **given}
    return browser.post(f"/admin/facts/{way}/", form)


def test_many_facts_are_previewed_then_closed_then_restored(
    curator: Client, talk: Talk, cleo: Agent
) -> None:
    other = Talk(cleo)
    other.learn(new(BAKERY))
    declare(talk, TOE)
    marked = [talk.fact(BAKERY), talk.fact(PIANO), talk.fact(TOE), other.fact(BAKERY)]
    preview = mark(curator, "invalidate_selected", marked)
    assert preview.status_code == 200
    choice = preview.context["choice"]
    assert list(choice.left_out) == [talk.fact(TOE)]
    assert talk.held() == {BAKERY, PIANO}, "a preview does nothing"
    chosen = [marked[0], marked[1], marked[3]]
    done = curate(curator, "invalidate", chosen)
    assert done["Location"] == FACTS
    assert talk.held() == set() == other.held()
    listed = html.unescape(curator.get(FACTS).content.decode())
    assert "3 facts retired" in listed
    assert page(Changeset, "change", newest().id) in listed
    for fact in chosen:
        fact.refresh_from_db()
    assert curate(curator, "restore", chosen).status_code == 302
    assert talk.held() == {BAKERY, PIANO} and other.held() == {BAKERY}
    assert not Changeset.objects.of(cleo.tenant).filter(conversation=talk.row()).exists()


def test_when_one_of_many_cannot_be_closed_none_is(
    curator: Client, talk: Talk, cleo: Agent
) -> None:
    other = Talk(cleo)
    other.learn(new(BAKERY))
    seen = [talk.fact(BAKERY), talk.fact(PIANO), other.fact(BAKERY)]
    declare(talk, PIANO)
    answer = curate(curator, "invalidate", seen)
    assert "nothing was done" in errors(answer)[0]
    assert BAKERY in talk.held() and other.held() == {BAKERY}


def test_of_many_a_sentence_that_is_held_anew_stops_the_restoring_of_all(
    curator: Client, talk: Talk
) -> None:
    first, toe = talk.fact(PIANO), talk.fact(TOE)
    for sentence in (PIANO, TOE):
        declare(talk, sentence, Fact.Because.SUPERSEDED)
    talk.learn(new(PIANO))
    for fact in (first, toe):
        fact.refresh_from_db()
    assert "says the same" in errors(curate(curator, "restore", [toe, first]))[0]
    assert TOE not in talk.held()


@pytest.mark.parametrize(
    "given",
    [
        {"reason": ""},
        {"because": ""},
        {"because": "erased"},
        {"facts": ""},
        {"facts": f"x,{ANY},{ANY}:x,{ANY}:²,:1,{ANY}:"},
        {"facts": f"{ANY}:1"},
        {"facts": f"{ANY}:1," * 2_000},
        {"facts": ",".join(f"{uuid.UUID(int=number)}:1" for number in range(1_500))},
    ],
)
def test_a_preview_that_is_posted_badly_comes_again(
    curator: Client, talk: Talk, given: dict[str, Any]
) -> None:
    assert errors(curate(curator, "invalidate", [talk.fact(PIANO)], **given))
    assert talk.held() == {BAKERY, PIANO, TOE}


def test_a_thousand_facts_are_closed_at_once_and_no_more(
    curator: Client, talk: Talk, settings: Settings
) -> None:
    facts = [talk.fact(sentence) for sentence in (BAKERY, PIANO, TOE)]
    settings.FACTS_AT_ONCE = 2
    preview = mark(curator, "invalidate_selected", facts)
    assert "which is the most at once" in preview.content.decode()
    assert errors(curate(curator, "invalidate", facts))
    assert len(talk.held()) == 3
    assert curate(curator, "invalidate", facts[:2]).status_code == 302


def test_a_preview_of_nothing_says_what_to_do(curator: Client, talk: Talk) -> None:
    text = mark(curator, "restore_selected", [talk.fact(PIANO)]).content.decode()
    assert "None of the facts that you marked can be restored" in text


def test_who_may_not_curate_is_offered_no_action(auditor: Client, talk: Talk) -> None:
    assert "invalidate_selected" not in auditor.get(FACTS).content.decode()
    mark(auditor, "invalidate_selected", [talk.fact(PIANO)])
    assert talk.held() == {BAKERY, PIANO, TOE}


def test_no_way_back_leads_out_of_the_admin(curator: Client, talk: Talk) -> None:
    changeset = declare(talk, PIANO)
    answer = curator.post(
        f"/admin/changesets/{changeset.id}/revert/",
        {"revert-reason": WHY, "next": "https://elsewhere.example/"},
    )
    assert answer["Location"] == page(Changeset, "change", newest().id)
    assert find_revert(changeset) == newest()
