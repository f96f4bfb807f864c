"""Who looked at what in the admin is on record for auditors: never what it said, and for a year."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse

from console import page_reads
from console.models import PageRead
from episodic.models import Conversation
from jobs.reconciler import reconcile
from semantic.models import Fact
from tests.conftest import Agent

pytestmark = pytest.mark.django_db


def read_log(agent: Agent) -> list[tuple[str, str, uuid.UUID | None]]:
    rows = PageRead.objects.of(agent.tenant).order_by("created_at", "id")
    return list(rows.values_list("person", "page", "subject"))


def test_pages_with_content_are_put_on_record_and_others_are_not(
    curator: Client, ana: Agent, cleo: Agent, told: uuid.UUID
) -> None:
    home = Conversation.objects.of(ana.tenant).get(external_id=told)
    fact = Fact.objects.of(ana.tenant).order_by("id")[0]
    curator.get(reverse("admin:index"), {"tenant": ana.tenant.name})
    curator.get(reverse("admin:jobs_job_changelist"))
    assert read_log(ana) == []
    page = "admin:episodic_conversation_change"
    assert curator.get(reverse(page, args=[home.id])).status_code == 200
    assert curator.get(reverse("admin:semantic_fact_changelist")).status_code == 200
    assert curator.get(reverse("console:graph", args=[fact.id])).status_code == 200
    assert curator.get(reverse(page, args=[uuid.uuid4()])).status_code == 404
    assert read_log(ana) == [
        ("curator", page, home.id),
        ("curator", "admin:semantic_fact_changelist", None),
        ("curator", "console:graph", fact.id),
    ]
    assert read_log(cleo) == []


def test_who_looks_at_all_tenants_is_on_record_where_the_row_is_and_of_a_list_everywhere(
    curator: Client, ana: Agent, cleo: Agent, told: uuid.UUID
) -> None:
    fact = Fact.objects.of(ana.tenant).order_by("id")[0]
    for page in ("admin:semantic_fact_change", "console:ask_again"):
        assert curator.get(reverse(page, args=[fact.id]), {"tenant": ""}).status_code == 200
    assert len(read_log(ana)) == 2 and read_log(cleo) == []
    curator.get(reverse("admin:semantic_fact_changelist"))
    assert len(read_log(ana)) == 3 and len(read_log(cleo)) == 1


def test_of_what_was_searched_for_only_a_hash_is_kept_and_after_a_year_nothing(
    curator: Client, ana: Agent, cleo: Agent, told: uuid.UUID
) -> None:
    for words in ("Zanzibar", "Zanzibar", "Rotterdam"):
        curator.get(reverse("console:search"), {"q": words, "tenant": ana.tenant.name})
    rows = list(PageRead.objects.of(ana.tenant).order_by("created_at", "id").values())
    assert len({row["words_sha256"] for row in rows}) == 2 and "Zanzibar" not in str(rows)
    old = PageRead.objects.of(ana.tenant).filter(id=rows[0]["id"])
    old.update(created_at=F("created_at") - page_reads.KEPT - timedelta(minutes=1))
    reconcile()
    assert PageRead.objects.of(ana.tenant).count() == 2


def test_an_auditor_lists_and_exports_the_log_and_a_curator_does_not(
    auditor: Client, curator: Client, ana: Agent, cleo: Agent, told: uuid.UUID
) -> None:
    home = Conversation.objects.of(ana.tenant).get(external_id=told)
    curator.get(reverse("admin:episodic_conversation_change", args=[home.id]))
    listed = auditor.get(reverse("admin:console_pageread_changelist"), {"q": str(home.id)})
    assert "episodic_conversation_change" in listed.content.decode()
    taken = {"table": "reads", "format": "csv", "tenant": ana.tenant.name}
    file = auditor.post(reverse("console:export_download"), taken)
    assert str(home.id) in b"".join(file.streaming_content).decode()  # type: ignore[attr-defined]
    taken["tenant"] = cleo.tenant.name
    file = auditor.post(reverse("console:export_download"), taken)
    assert str(home.id) not in b"".join(file.streaming_content).decode()  # type: ignore[attr-defined]
    assert curator.get(reverse("admin:console_pageread_changelist")).status_code == 403
    assert curator.post(reverse("console:export_download"), taken).status_code == 403
