"""Every list and every page opens, shows what it should, and nothing that it should not."""

from __future__ import annotations

import html

import pytest
from axes.models import AccessAttempt, AccessLog
from django.apps import apps
from django.contrib import admin
from django.test import Client

from episodic.models import Conversation, Episode, Message
from memoryproject.adminkit.site import list_places
from memoryproject.tenancy.models import APIKey, Membership, StoredSize
from retrieval.models import Retrieval, RetrievalHit
from semantic.models import Change, Changeset, Evidence, Fact
from tests.admin.conftest import SCRIPT
from tests.admin.pages import READ_ONLY, newest, page
from tests.conftest import Agent
from wings.events.models import MailChoice, Notification

pytestmark = pytest.mark.django_db
OURS = [
    "ai", "tenancy", "jobs", "events", "indexing", "episodic", "semantic", "notes", "retrieval",
    "console", "erasure", "instructions", "people",
]  # fmt: skip


SHOWN_ELSEWHERE = {StoredSize, Membership, Notification, MailChoice}
"""Rows that the page of a tenant sums up, that of a person lists, and each person's own pages."""


def read(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, address
    return str(answer.content.decode())


def test_every_table_of_ours_is_registered_read_only() -> None:
    tables = {model for app in OURS for model in apps.get_app_config(app).get_models()}
    assert set(READ_ONLY) == (tables | {AccessAttempt, AccessLog}) - SHOWN_ELSEWHERE


def test_each_entry_of_the_menu_leads_to_a_page() -> None:
    assert len(list_places()) == 8
    assert [
        entry.title for one in list_places() for entry in one.entries if not entry.address
    ] == []


def test_nothing_of_the_queue_library_is_registered() -> None:
    assert "django_q" not in {model._meta.app_label for model in admin.site._registry}


@pytest.mark.gate
def test_every_list_and_one_page_of_each_table_open_without_a_hash_or_a_script(
    auditor: Client, past: Agent
) -> None:
    for model in READ_ONLY:
        row = newest(model)
        for address in (page(model, "changelist"), page(model, "change", row.pk)):
            text = read(auditor, address)
            assert past.key.hash not in text and past.secret not in text
            assert SCRIPT not in text


def test_people_and_the_front_page_open(auditor: Client) -> None:
    for address in ("/admin/", "/admin/auth/user/", "/admin/auth/group/", "/admin/auth/user/add/"):
        read(auditor, address)


@pytest.mark.parametrize("rest", ["x/y/", "1/x/", "99999999999999999999/1/", "1/", "x"])
def test_no_table_has_a_page_outside_the_admin(auditor: Client, rest: str) -> None:
    assert auditor.get(f"/admin/r/{rest}").status_code == 404


def test_what_agents_wrote_is_escaped_wherever_it_is_shown(auditor: Client, past: Agent) -> None:
    message = Message.objects.of(past.tenant).get(content__contains="script")
    assert message.episode is not None
    addresses = [
        page(Message, "changelist"),
        page(Message, "change", message.id),
        page(Episode, "change", message.episode_id),
    ]
    for address in addresses:
        text = read(auditor, address)
        assert html.escape(SCRIPT) in text and SCRIPT not in text, address


def test_an_episode_shows_its_messages_its_facts_and_the_answers_that_served_it(
    auditor: Client, past: Agent
) -> None:
    hit = RetrievalHit.objects.of(past.tenant).filter(memory_kind="episode").order_by("rank")[0]
    episode = Episode.objects.of(past.tenant).get(id=hit.memory_id)
    text = html.unescape(read(auditor, page(Episode, "change", episode.id)))
    for message in Message.objects.of(past.tenant).filter(episode=episode):
        assert message.content in text
        assert page(Message, "change", message.id) in text
    for evidence in Evidence.objects.of(past.tenant).filter(episode=episode):
        assert page(Fact, "change", evidence.fact_id) in text
    assert page(Retrieval, "change", hit.retrieval_id) in text


def test_a_fact_leads_to_its_messages_and_to_the_changes_that_made_it(
    auditor: Client, past: Agent
) -> None:
    evidence = Evidence.objects.of(past.tenant).exclude(message_seqs=[]).order_by("id")[0]
    fact = evidence.fact
    text = read(auditor, page(Fact, "change", fact.id))
    said = Message.objects.of(past.tenant).filter(
        conversation=fact.conversation, seq__in=evidence.message_seqs
    )
    links = [page(Message, "change", message.id) for message in said]
    links += [
        page(Episode, "change", evidence.episode_id),
        page(Changeset, "change", fact.changeset_id),
        *(
            page(Change, "change", change.id)
            for change in Change.objects.of(past.tenant).filter(memory_id=fact.id)
        ),
    ]
    assert len(links) >= 4 and all(link in text for link in links)


def test_a_fact_that_was_replaced_and_the_one_that_replaced_it_lead_to_each_other(
    auditor: Client, past: Agent
) -> None:
    old, new = Fact.objects.of(past.tenant).filter(invalid_at=None).order_by("id")[:2]
    old.invalid_at, old.invalidated_because, old.superseded_by = new.created_at, "superseded", new
    Fact.across_tenants.bulk_update([old], ["invalid_at", "invalidated_because", "superseded_by"])
    assert page(Fact, "change", new.id) in read(auditor, page(Fact, "change", old.id))
    assert page(Fact, "change", old.id) in read(auditor, page(Fact, "change", new.id))


def test_a_changeset_shows_its_changes_in_their_order(auditor: Client, past: Agent) -> None:
    changeset = Changeset.objects.of(past.tenant).order_by("id")[0]
    text = read(auditor, page(Changeset, "change", changeset.id))
    changes = Change.objects.of(past.tenant).filter(changeset=changeset).order_by("position")
    places = [text.index(page(Change, "change", change.id)) for change in changes]
    assert places and places == sorted(places)


def test_a_receipt_leads_to_everything_that_was_served(auditor: Client, past: Agent) -> None:
    hits = RetrievalHit.objects.of(past.tenant)
    text = read(auditor, page(Retrieval, "change", hits[0].retrieval_id))
    served = {"fact": Fact, "episode": Episode}
    assert {hit.memory_kind for hit in hits} == set(served)
    for hit in hits:
        assert page(served[hit.memory_kind], "change", hit.memory_id) in text


def test_the_links_of_a_conversation_lead_to_lists_of_its_own_rows(
    auditor: Client, past: Agent, cleo: Agent
) -> None:
    conversation = Conversation.objects.of(past.tenant).get()
    cleo.say(conversation.external_id, "I live in a lighthouse.")
    text = html.unescape(read(auditor, page(Conversation, "change", conversation.id)))
    for model in (Message, Episode, Fact, Changeset, Retrieval):
        address = f"{page(model, 'changelist')}?conversation__exact={conversation.id}"
        assert address in text
        assert "lighthouse" not in read(auditor, address)
    assert "lighthouse" in read(auditor, page(Message, "changelist"))


def test_a_key_shows_how_it_stands_and_offers_no_way_to_ask_for_its_hash(
    auditor: Client, past: Agent
) -> None:
    shown = read(auditor, page(APIKey, "change", past.key.id))
    assert past.key.prefix in shown and "ingest" in shown
    guess = past.key.hash[:4]
    for model, lookup in [
        (APIKey, "hash__startswith"),
        (Message, "posted_by__hash__startswith"),
        (Retrieval, "asked_by__hash__startswith"),
    ]:
        asked = auditor.get(page(model, "changelist"), {lookup: guess})
        assert asked.status_code == 400, lookup
    named_like_it = auditor.get(page(APIKey, "changelist"), {"q": past.key.hash})
    assert named_like_it.context["cl"].result_count == 0
