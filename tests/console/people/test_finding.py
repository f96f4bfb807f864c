"""Somebody is found by name: people, user ids, and those who only spoke."""

from __future__ import annotations

import html
import re
import uuid

import pytest
from django.test import Client
from django.urls import reverse

from tests.admin.pages import page
from tests.conftest import Agent
from tests.console.people.test_person_page import WHY, add, talk
from wings.people.models import Merge, Person

pytestmark = pytest.mark.django_db
__all__ = ["talk"]


def follow(browser: Client, name: str, text: str) -> str:
    """Return the page to which a link with somebody's name leads."""
    icon = r"\s*(?:<span[^>]*>[^<]*</span>)?\s*(?:<[^>]*>)?"
    link = re.search(rf'href="([^"]*)"[^>]*>{icon}{name}', text)
    assert link is not None, text
    answer = browser.get(html.unescape(link[1]), follow=True)
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def test_who_only_spoke_is_listed_and_found_without_anybodys_doing(
    curator: Client, auditor: Client, talk: str
) -> None:
    for browser in (curator, auditor):
        listed = browser.get(page(Person, "changelist")).content.decode()
        assert "mira-1" in listed
        shown = follow(browser, "Mira", listed)
        assert "Talks in <b>1</b> conversation" in shown and "Rotterdam" in shown
        palette = browser.get(reverse("admin:search"), {"s": "mira", "extended": "1"})
        assert "Talks in <b>1</b>" in follow(browser, "Mira", palette.content.decode())
        browser.get("/admin/", {"tenant": "ana's"})
        found = browser.get(reverse("console:search"), {"q": "mira"}).content.decode()
        assert "Talks in <b>1</b>" in follow(browser, "mira-1", found.split('id="found-people"')[1])
    assert not Person.across_tenants.exists()
    assert "Add as a person" not in shown


def test_a_user_id_and_who_alone_speaks_under_it_are_added_as_one_person(
    curator: Client, auditor: Client, ana: Agent, talk: str
) -> None:
    address = page(Person, "changelist")
    listed = curator.get(address).content.decode()
    assert "There is nothing yet" not in listed and "Nobody was added as a person" in listed
    assert "add as one" not in auditor.get(address).content.decode()
    for kind, value in (("user", "mira-1"), ("speaker", "Mira")):
        known = reverse("console:person_known")
        shown = curator.get(known, {"tenant": "ana's", "kind": kind, "value": value})
        form = shown.content.decode().partition('id="same-h"')[2].partition("</form>")[0]
        assert "add as one" in form
    sent = dict(re.findall(r'name="(\w+)" value="([^"]*)"', listed.partition(">May be")[2]))
    assert (sent["name"], sent["user_ids"], sent["speakers"]) == ("Mira", "mira-1", "Mira")
    sent["tenant"] = html.unescape(sent["tenant"])
    made = curator.post(reverse("console:person_new"), sent)
    assert made["Location"] == page(Person, "change", Person.across_tenants.get().pk)
    assert "add as one" not in curator.get(address).content.decode()


def test_a_person_is_found_by_name_id_and_speaker(curator: Client, talk: str) -> None:
    mira = add(curator, "Mrs. Kowalska", user_ids="mira-1", speakers="Mira")
    for words in ("kowalska", "RA-1", "mira"):
        found = curator.get(reverse("console:search"), {"q": words}).content.decode()
        assert page(Person, "change", mira.pk) in found, words
        palette = curator.get(reverse("admin:search"), {"s": words, "extended": "1"})
        assert page(Person, "change", mira.pk) in palette.content.decode()
        listed = curator.get(page(Person, "changelist"), {"q": words}).content.decode()
        assert page(Person, "change", mira.pk) in listed, words
    known = curator.get(reverse("console:person_known"), {"kind": "speaker", "value": "Mira"})
    assert known["Location"] == page(Person, "change", mira.pk)
    other = curator.get(page(Person, "changelist")).content.decode()
    assert "kind=speaker&amp;value=Mira" not in other


def test_somebody_who_spoke_with_others_talks_in_a_conversation(
    curator: Client, ana: Agent
) -> None:
    shared = uuid.uuid4()
    ana.say(shared, "Hello.", name="Nora")
    ana.say(shared, "Hi.", name="Paul")
    nora = add(curator, "Nora", speakers="Nora")
    shown = curator.get(page(Person, "change", nora.pk)).content.decode()
    assert "Talks in <b>1</b> conversation, 1 of them shared with others" in shown


def test_a_merge_shows_first_what_will_move(curator: Client, talk: str) -> None:
    mira, twin = add(curator, "Mira", user_ids="mira-1"), add(curator, "M.", speakers="Mira")
    shown = curator.get(page(Person, "change", mira.pk)).content.decode()
    assert "Same person as …" in shown and "They are the same person" not in shown
    given = {"merge-into_id": str(twin.pk), "merge-reason": WHY, "preview": "1"}
    told = curator.post(reverse("console:person_merge", args=[mira.pk]), given)
    text = " ".join(html.unescape(told.content.decode()).split())
    assert told.status_code == 200 and "They are the same person" in text
    assert "will count as M., with 1 conversation, 16 messages" in text
    assert not Merge.across_tenants.exists()
    del given["preview"]
    assert curator.post(reverse("console:person_merge", args=[mira.pk]), given).status_code == 302


def test_an_odd_address_of_somebody_is_not_found(curator: Client, talk: str) -> None:
    curator.get("/admin/", {"tenant": "ana's"})
    for asked in ({}, {"kind": "cat", "value": "x"}, {"kind": "user", "value": "a\x00b"}):
        assert curator.get(reverse("console:person_known"), asked).status_code == 404
    shown = curator.get(reverse("console:person_known"), {"kind": "user", "value": "<b>"})
    assert "user ids: <b>&lt;b&gt;</b>" in shown.content.decode()
