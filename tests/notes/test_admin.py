"""People find notes by their words, and get from a memory to its links."""

from __future__ import annotations

import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from jobs.enqueue import enqueue
from jobs.models import Kind
from tests.conftest import Agent
from tests.notes.graphs import link, write
from tests.notes.test_writing import change
from wings.notes.models import Link, Note

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def browser(shared: None) -> Client:
    """Return the browser of somebody with every right."""
    visitor = Client(SERVER_NAME="localhost")
    visitor.force_login(User.objects.create_superuser("somebody"))
    return visitor


def read(browser: Client, name: str, *ids: object, **query: str) -> str:
    answer = browser.get(reverse(f"admin:{name}", args=ids), query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_a_note_is_found_by_its_words_and_says_whether_it_is_held(
    browser: Client, ana: Agent
) -> None:
    write(ana, "The kettle sings.")
    gone = write(ana, "The toaster hums.")
    ana.client.delete(f"/api/v0/notes/{gone}")
    found = read(browser, "notes_note_changelist", q="kettle")
    assert "The kettle sings." in found and "toaster" not in found
    assert "toaster" not in read(browser, "notes_note_changelist", state="active")
    assert "toaster" in read(browser, "notes_note_changelist", state="deleted")


def test_from_a_note_to_its_versions_and_from_a_memory_to_its_links(
    browser: Client, ana: Agent
) -> None:
    near, far = write(ana, "One."), write(ana, "Another.")
    change(ana, near, version=1, content="Two.")
    drawn = link(ana, near, far, "supports")
    versions = reverse("admin:notes_noteversion_changelist") + f"?note__exact={near}"
    assert versions in read(browser, "notes_note_change", near)
    assert "One." in str(browser.get(versions).content.decode())
    page = read(browser, "indexing_memory_change", near)
    assert f"/admin/notes/link/?from_memory__exact={near}" in page
    assert reverse("admin:notes_note_change", args=[near]) in page
    shown = read(browser, "notes_link_change", drawn["id"])
    for end in (near, far):
        assert reverse("admin:notes_note_change", args=[end]) in shown
    assert "supports" in read(browser, "notes_link_changelist", q=near)


def test_a_job_for_the_whole_tenant_names_no_conversation(browser: Client, ana: Agent) -> None:
    job = enqueue(tenant=ana.tenant, kind=Kind.EMBED, scope=ana.tenant.id)
    conversations = reverse("admin:episodic_conversation_changelist")
    for name, ids in (("jobs_job_changelist", []), ("jobs_job_change", [job.id])):
        page = read(browser, name, *ids)
        assert f"{conversations}{ana.tenant.id}" not in page


def test_notes_and_links_name_themselves(ana: Agent, conversation: uuid.UUID) -> None:
    near, far = write(ana, "One.", label="First"), write(ana)
    link(ana, near, far)
    assert str(Note.objects.of(ana.tenant).get(id=near)) == "First"
    assert str(Link.objects.of(ana.tenant).get()) == f"{near} relates_to {far}"
