"""A curator adds people, merges two and undoes it, and exports all that is somebody's."""

from __future__ import annotations

import html
import json
import uuid

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from episodic.models import Conversation
from retrieval.models import RetrievalHit
from semantic.models import Fact
from tests.admin.pages import page
from tests.conftest import Agent
from tests.talk import whole_talk
from wings.erasure.models import Hold
from wings.erasure.services import place_hold
from wings.people.models import Merge, Person

pytestmark = pytest.mark.django_db
WHY = "The same mail address."


@pytest.fixture(scope="module")
def talk(ana: Agent) -> str:
    talk = str(uuid.uuid4())
    said = {"conversation_id": talk, "user_id": "mira-1", "messages": whole_talk()}
    assert ana.post("add_messages", said).status_code == 201
    ana.flush(uuid.UUID(talk))
    ana.post("retrieve_memory", {"conversation_id": talk, "query": "Who moved?"})
    return talk


def add(curator: Client, name: str, **lines: str) -> Person:
    curator.get("/admin/", {"tenant": "ana's"})
    made = curator.post(reverse("console:person_new"), {"name": name, **lines})
    assert made.status_code == 302, made.content
    person = Person.across_tenants.get(name=name)
    assert made["Location"] == page(Person, "change", person.pk)
    return person


def test_people_are_added_merged_and_unmerged(
    curator: Client, auditor: Client, ana: Agent, cleo: Agent, talk: str
) -> None:
    listed = curator.get(page(Person, "changelist")).content.decode()
    assert reverse("console:person_new") in listed
    mira = add(curator, "Mira", user_ids="mira-1\n")
    shown = curator.get(page(Person, "change", mira.pk)).content.decode()
    assert "mira-1" in shown and "Who moved?" in shown and "Rotterdam" in shown
    masked = auditor.get(page(Person, "change", mira.pk)).content.decode()
    assert "Who moved?" in masked and "Same person as" not in masked
    again = curator.post(reverse("console:person_new"), {"name": "M.", "user_ids": "mira-1"})
    assert again.status_code == 400
    twin = add(curator, "M.", speakers="Mira")
    stranger = cleo.post("people", {"name": "Cleo", "user_ids": ["c"]}).json()["id"]
    address = reverse("console:person_merge", args=[twin.pk])
    for into in ("", stranger, str(twin.pk)):
        wrong = {"merge-into_id": into, "merge-reason": WHY}
        assert curator.post(address, wrong).status_code == 400, into
    merged = curator.post(address, {"merge-into_id": str(mira.pk), "merge-reason": WHY})
    assert merged["Location"] == page(Person, "change", mira.pk)
    assert WHY in curator.get(page(Person, "change", twin.pk)).content.decode()
    assert ana.get(f"people/{mira.pk}").json()["speakers"] == ["Mira"]
    undone = curator.post(
        reverse("console:person_unmerge", args=[twin.pk]), {"unmerge-reason": "No."}
    )
    assert undone["Location"] == page(Person, "change", twin.pk)
    merge = Merge.objects.of(ana.tenant).get()
    assert merge.undone_by == merge.actor != "" and merge.undone_because == "No."


def test_the_export_has_all_that_the_api_has(
    curator: Client, ana: Agent, talk: str, settings: Settings
) -> None:
    mira = add(curator, "Mira", user_ids="mira-1")
    address = reverse("console:person_export", args=[mira.pk])
    sent = curator.post(address).getvalue()
    rows = [json.loads(line) for line in sent.decode().splitlines()]
    counts = ana.get(f"people/{mira.pk}").json()["counts"]
    by_kind = {kind: [row["item"] for row in rows if row["kind"] == kind] for kind in counts}
    assert {kind: len(items) for kind, items in by_kind.items()} == counts
    assert counts["messages"] == len(whole_talk()) and counts["answers"] == 1
    said = ana.get("messages", conversation_id=talk, limit=200).json()["items"]
    assert {row["content"] for row in by_kind["messages"]} == {row["content"] for row in said}
    settings.PAGE_BYTES = 500  # so that it is read in many pages
    assert curator.post(address).getvalue() == sent


def test_a_fact_of_a_person_has_state_evidence_use_and_what_it_replaced(
    curator: Client, ana: Agent, talk: str
) -> None:
    mira = add(curator, "Mira", user_ids="mira-1")
    served = RetrievalHit.objects.of(ana.tenant).filter(memory_kind="fact").first()
    assert served is not None
    old = Fact.objects.of(ana.tenant).get(id=served.memory_id)
    body = {"fact": "Mira moved to Bruges.", "reason": WHY, "version": old.version}
    new = ana.post(f"facts/{old.id}/correct", body).json()["id"]
    asked = {"conversation_id": talk, "query": "Who lives in Bruges?"}
    assert ana.post("retrieve_memory", asked).status_code == 200
    shown = html.unescape(curator.get(page(Person, "change", mira.pk)).content.decode())
    row = shown[shown.index(page(Fact, "change", new)) :].partition("</li>")[0]
    assert "Mira moved to Bruges." in row and "active" in row
    assert "Earlier, since" in row and old.fact in row and shown.count(old.fact) == 1
    assert f"?memory={new}" in row and "served 1 time<" in row
    assert f"last {timezone.now():%Y-%m-%d}" in row
    listed = curator.get(page(Fact, "changelist")).context["cl"].result_list
    uses = {fact.id: (fact.use.times, fact.evidence_count) for fact in listed}
    assert (uses[uuid.UUID(new)], uses[old.id]) == ((1, 0), (1, 1))


def test_a_profile_is_shown_as_agents_get_it(
    curator: Client, auditor: Client, ana: Agent, talk: str
) -> None:
    mira = add(curator, "Mira", user_ids="mira-1")
    profile = ana.get("users/mira-1/profile", format="json").json()
    shown = html.unescape(curator.get(page(Person, "change", mira.pk)).content.decode())
    assert profile["text"] in shown and f"{profile['tokens']} tokens" in shown
    masked = html.unescape(auditor.get(page(Person, "change", mira.pk)).content.decode())
    assert "## Who this is" in masked and "## Last episodes" not in masked


def test_who_may_be_the_same_person_is_suggested_until_they_were_merged(
    curator: Client, ana: Agent, talk: str
) -> None:
    mira = add(curator, "Mira", user_ids="mira-1")
    address = page(Person, "change", mira.pk)

    def read_suggestions() -> str:
        shown = html.unescape(curator.get(address).content.decode())
        return shown.partition('id="same-h"')[2].partition("</section>")[0]

    assert "kind=speaker&value=Mira" in read_suggestions()
    twin = add(curator, "M.", speakers="Mira")
    suggested = read_suggestions()
    assert page(Person, "change", twin.pk) in suggested and "alone in the same" in suggested
    act = reverse("console:person_merge", args=[twin.pk])
    told = curator.post(act, {"merge-into_id": str(mira.pk), "preview": "1"})
    text = " ".join(html.unescape(told.content.decode()).split())
    assert "M. (Mira) will count as Mira, with 1 conversation" in text
    assert "This field is required" not in text
    curator.post(act, {"merge-into_id": str(mira.pk), "merge-reason": WHY})
    assert read_suggestions() == ""
    undo = reverse("console:person_unmerge", args=[twin.pk])
    curator.post(undo, {"unmerge-reason": "No."})
    assert page(Person, "change", twin.pk) not in read_suggestions()


def test_lists_and_search_name_conversations(
    curator: Client, auditor: Client, ana: Agent, talk: str
) -> None:
    for address in (page(Fact, "changelist"), reverse("console:search") + "?q=Rotterdam"):
        for browser, name in (
            (curator, "Jonas, Mira: “Hi Jonas! I finally"),
            (auditor, "Jonas, Mira<"),
        ):
            browser.get("/admin/", {"tenant": "ana's"})
            shown = html.unescape(browser.get(address).content.decode())
            assert name in shown and f"{talk[:8]}…" not in shown, address


def test_a_list_that_is_not_in_the_read_log_names_speakers_alone(
    curator: Client, ana: Agent, talk: str
) -> None:
    home = Conversation.objects.of(ana.tenant).get(external_id=talk)
    place_hold(tenant=ana.tenant, conversation_id=home.id, actor="ana", reason="Case 4711.")
    shown = curator.get(page(Hold, "changelist")).content.decode()
    assert "Jonas, Mira<" in shown and "Hi Jonas!" not in shown
