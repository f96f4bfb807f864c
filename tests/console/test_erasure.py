"""Erasing in the admin: counted first, typed to confirm, on record."""

from __future__ import annotations

import uuid

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from episodic.models import Conversation, Message
from jobs.draining import drain_jobs
from memoryproject.tenancy.models import Tenant
from semantic.models import Changeset
from tests.conftest import Agent, make_agent, tell
from tests.console.visitors import SUPERUSER, visit_as
from tests.erasure.lives import digest, memories
from wings.erasure.models import Erasure

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def told(shared: None) -> uuid.UUID:
    """Ana's conversation, once for all tests of this file."""
    return tell(make_agent("ana's", "ana"), uuid.uuid4())


def address(name: str, row_id: uuid.UUID) -> str:
    return reverse(f"console:erase_{name}", args=[row_id])


def test_a_page_tells_what_would_go_and_erases_nothing(ana: Agent, told: uuid.UUID) -> None:
    home = Conversation.objects.of(ana.tenant).get()
    before = digest(ana.tenant)
    page = visit_as(SUPERUSER).get(address("conversation", home.id))
    assert page.status_code == 200
    text = page.content.decode()
    assert "messages" in text and "<td>16</td>" in text
    assert "Ghent" not in text
    assert digest(ana.tenant) == before


@pytest.mark.parametrize("typed", ["", "yes", "message 4", "MESSAGE 3"])
def test_another_word_erases_nothing(ana: Agent, told: uuid.UUID, typed: str) -> None:
    message = Message.objects.of(ana.tenant).get(seq=3)
    before = digest(ana.tenant)
    form = {"reason": "asked for", "typed": typed}
    answer = visit_as(SUPERUSER).post(address("message", message.id), form)
    assert answer.status_code == 400
    assert digest(ana.tenant) == before


def test_the_word_erases_and_leads_to_the_record(ana: Agent, told: uuid.UUID) -> None:
    message = Message.objects.of(ana.tenant).get(seq=3)
    browser = visit_as(SUPERUSER)
    form = {"reason": "asked for", "typed": "message 3"}
    answer = browser.post(address("message", message.id), form)
    erasure = Erasure.objects.of(ana.tenant).get()
    paper = reverse("console:certificate", args=[erasure.id])
    assert answer["Location"] == f"{paper}?scan=1"
    assert "Look for it in all tables" in browser.get(paper).content.decode()
    assert browser.get(answer["Location"]).status_code == 200
    assert browser.get(reverse("admin:erasure_erasure_changelist")).status_code == 200
    assert (erasure.state, erasure.counts["messages"]) == ("done", 1)
    assert LogEntry.objects.get(object_id=str(erasure.id)).get_change_message()
    assert browser.get(address("message", message.id)).status_code == 404


def test_a_tenant_goes_and_its_record_can_still_be_read(ana: Agent, told: uuid.UUID) -> None:
    browser = visit_as(SUPERUSER)
    form = {"reason": "they have left", "typed": ana.tenant.name}
    answer = browser.post(address("tenant", ana.tenant.id), form)
    assert answer.status_code == 302
    drain_jobs()
    assert not Tenant.objects.filter(id=ana.tenant.id).exists()
    assert memories(ana) == 0
    assert b"erased" in browser.get(answer["Location"]).content
    assert browser.get(reverse("admin:erasure_erasure_changelist")).status_code == 200


@pytest.mark.gate
def test_the_pages_of_a_conversation_bear_its_gaps(ana: Agent, told: uuid.UUID) -> None:
    browser = visit_as(SUPERUSER)
    question = {"conversation_id": str(told), "query": "Where is Mira moving?"}
    assert ana.post("retrieve_memory", question).status_code == 200
    for seq in (3, 12):
        message = Message.objects.of(ana.tenant).get(seq=seq)
        form = {"reason": "asked for", "typed": f"message {seq}"}
        assert browser.post(address("message", message.id), form).status_code == 302
    drain_jobs()
    for table in ("episodic_conversation", "episodic_episode", "semantic_fact",
                  "semantic_changeset", "semantic_change", "retrieval_retrieval"):  # fmt: skip
        listed = browser.get(reverse(f"admin:{table}_changelist"))
        assert listed.status_code == 200, table
        for row in listed.context["cl"].result_list:
            page = browser.get(reverse(f"admin:{table}_change", args=[row.pk]))
            assert page.status_code == 200, (table, row)


def test_the_page_that_undoes_says_what_is_erased(ana: Agent, told: uuid.UUID) -> None:
    changeset = Changeset.objects.of(ana.tenant).order_by("id")[0]
    for seq in (5, 13):
        message = Message.objects.of(ana.tenant).get(seq=seq)
        asked = {"scope": "message", "id": str(message.id), "reason": "asked for"}
        assert ana.post("erasures", asked).status_code == 200
    page = visit_as(SUPERUSER).get(reverse("console:changeset_revert", args=[changeset.id]))
    assert "erased: nothing brings" in page.content.decode()


def test_the_door_shows_to_those_who_may(ana: Agent, told: uuid.UUID) -> None:
    home = Conversation.objects.of(ana.tenant).get()
    page = reverse("admin:episodic_conversation_change", args=[home.id])
    door = address("conversation", home.id)
    assert door in visit_as(SUPERUSER).get(page).content.decode()
    assert door not in visit_as("curator").get(page).content.decode()


def test_the_certificate_counts_what_went_and_looks_for_what_is_left(
    ana: Agent, cleo: Agent, told: uuid.UUID
) -> None:
    conversation = Conversation.objects.of(ana.tenant).get(external_id=told)
    form = {"reason": "asked for", "typed": str(told)[:8]}
    boss = visit_as(SUPERUSER)
    paper = boss.post(address("conversation", conversation.id), form)["Location"]
    shown = boss.get(paper)
    assert shown.context["proof"].hits == {} and shown.context["proof"].tables > 20
    text = shown.content.decode()
    assert (
        "<b>Nothing but its id, on record that something ran:" in text
        and "asked for" in text
        and str(conversation.id) in text
    )
    ana.say(uuid.uuid4(), "I am Mira, and I live in Ghent.")
    cleo.say(uuid.uuid4(), "I am Zelda, and I live in Ghent.")
    assert boss.post(paper, {"words": "ghent"}).context["proof"].hits == {"messages": 1}
    assert boss.post(paper, {"words": "Zelda"}).context["proof"].hits == {}
    assert boss.post(paper, {"words": "x"}).status_code == 400
    assert "<b>Nothing.</b>" in boss.post(paper, {"words": "Zelda"}).content.decode()
    auditor = visit_as("auditor")
    assert auditor.get(paper).context["proof"].hits == {}
    refused = auditor.post(paper, {"words": "ghent"})
    assert refused.status_code == 400 and refused.context["proof"].hits == {}
