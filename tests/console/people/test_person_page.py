"""A curator adds people, merges two and undoes it, and exports all that is somebody's."""

from __future__ import annotations

import json
import uuid

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.admin.pages import page
from tests.conftest import Agent
from tests.talk import whole_talk
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
    assert "Who moved?" in masked and "Merge them" not in masked
    card = shown[shown.index('id="profile-h"') :].partition("</section>")[0]
    assert "Present matters and plans" in card and "half marathon" in card
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
