"""Who looked at what in the admin is on record for auditors: never what it said, and for a year."""

from __future__ import annotations

import html
import uuid
from datetime import timedelta

import pytest
from django.apps import apps
from django.db.models import F
from django.test import Client
from django.urls import reverse

from episodic.models import Conversation, Episode, Message
from jobs.reconciler import reconcile
from retrieval.models import Retrieval
from semantic.models import Fact
from tests.admin.pages import newest
from tests.conftest import Agent
from tests.console.test_matrix import PAGES, TABLES, address_of, past, table_pages
from tests.console.visitors import SUPERUSER, visit_as
from wings.console import page_reads
from wings.console.models import PageRead

pytestmark = pytest.mark.django_db
__all__ = ["past"]

COUNTS = "counts, states and times alone"
SETTINGS = "what was set for keys, tenants, models or logins"
DONE = "it acts and leads to another page"
SIGN_IN = "about the person who looks"
TABLES_WITHOUT = {
    "episodic.reveal": "who unmasked what, and why",
    "episodic.withholding": "whose messages are quarantined, by ids, and why",
    "episodic.erasedkey": "hashes",
    "erasure.erasure": "what was erased, by ids, and why",
    "erasure.retentionpolicy": SETTINGS,
    "erasure.hold": "ids, and why",
    "semantic.change": "ids and codes",
    "jobs.job": COUNTS,
    "jobs.workerrestart": COUNTS,
    "ai.breaker": SETTINGS,
    "events.webhook": SETTINGS,
    "events.event": "ids and states",
    "instructions.instructionversion": SETTINGS,
    "tenancy.tenant": SETTINGS,
    "tenancy.apikey": SETTINGS,
    "tenancy.keyusage": COUNTS,
    "indexing.memory": "ids",
    "indexing.searchvector": "numbers",
    "indexing.shelfsize": COUNTS,
    "indexing.wordcount": COUNTS,
    "indexing.vectorindex": COUNTS,
    "console.exportrun": "who exported how much",
    "console.pageread": "the log itself",
    "console.importrun": "who imported how much",
    "console.importbatch": COUNTS,
    "axes.accessattempt": SETTINGS,
    "axes.accesslog": SETTINGS,
    "auth.user": SETTINGS,
    "auth.group": SETTINGS,
}
"""Tables whose lists and pages show no content, and what they show."""
PAGES_WITHOUT = {
    "console:link_draw": "a form that takes an id",
    "console:person_new": "an empty form",
    "console:certificate": "ids and counts of what is erased",
    "console:lift": DONE,
    "console:notifications": "kinds and counts",
    "console:notification_choice": SIGN_IN,
    "console:test_run": DONE,
    "console:test_delete": DONE,
    "console:job_retry": DONE,
    "console:job_cancel": DONE,
    "console:key_new": SETTINGS,
    "console:key_revoke": DONE,
    "console:key_rotate": SETTINGS,
    "console:key_rate": DONE,
    "console:webhook_new": SETTINGS,
    "console:webhook_test": DONE,
    "console:webhook_delete": DONE,
    "console:budget": SETTINGS,
    "console:try_it_flush": DONE,
    "console:try_it_erase": DONE,
    "console:instructions_new": SETTINGS,
    "console:instructions_undo": DONE,
    "console:limits": SETTINGS,
    "console:tour": "what there is in the admin",
    "console:export": COUNTS,
    "console:import": "names of files, and counts",
    "console:import_step": DONE,
    "console:reveal": DONE,
    "console:policy_new": COUNTS,
    "console:policy_delete": DONE,
    "console:hold_lift": DONE,
    "console:erase_message": "ids and counts",
    "console:erase_conversation": "ids and counts",
    "console:erase_note": "ids and counts",
    "console:erase_import": "ids and counts",
    "console:erase_tenant": "the tenant's name, and counts",
    "mfa_index": SIGN_IN,
    "mfa_activate_totp": SIGN_IN,
    "mfa_deactivate_totp": SIGN_IN,
    "mfa_view_recovery_codes": SIGN_IN,
    "mfa_generate_recovery_codes": SIGN_IN,
    "account_reauthenticate": SIGN_IN,
    "mfa_reauthenticate": SIGN_IN,
    "admin:app_list": "names of tables",
    "admin:password_change": SIGN_IN,
    "admin:password_change_done": SIGN_IN,
    "admin:auth_user_password_change": SETTINGS,
    "admin:jsi18n": "words of the theme",
    "admin:view_on_site": DONE,
    "admin:search": "never reached: ours stands at its address",
}
"""Pages that show no content, and what they show."""


def test_every_page_of_the_admin_is_in_the_read_log_or_shows_no_content() -> None:
    adds = {"add", "delete"}  # nobody has Django's own forms of what has content
    named = {
        name: label
        for label in TABLES
        for kind, name in table_pages(label).items()
        if kind not in adds
    }
    named |= {name: name for name in PAGES}
    reasons = TABLES_WITHOUT | PAGES_WITHOUT
    missing = [
        f"{name}: put it into `shows_content` of a wing if it shows what somebody wrote, or was "
        "made of it; else say here what it shows"
        for name, subject in named.items()
        if not page_reads.shows_content(name) and subject not in reasons
    ]
    assert "\n".join(missing) == ""
    content = page_reads.list_content()
    pages = {name for name in content if ":" in name}
    assert content - pages | set(TABLES_WITHOUT) == set(TABLES)
    assert set(named) >= pages and set(PAGES_WITHOUT) <= set(PAGES)
    assert not content & {*TABLES_WITHOUT, *PAGES_WITHOUT}


def read_log(agent: Agent) -> list[tuple[str, str, uuid.UUID | None]]:
    rows = PageRead.objects.of(agent.tenant).order_by("created_at", "id")
    return list(rows.values_list("person", "page", "subject"))


@pytest.mark.gate
@pytest.mark.usefixtures("past")
def test_pages_outside_the_read_log_show_nothing_that_was_said_or_learnt() -> None:
    browser, rows = visit_as(SUPERUSER), Fact.across_tenants.all()
    texts = {*rows.values_list("fact", flat=True)}
    texts |= {*Episode.across_tenants.values_list("title", flat=True)}
    texts |= {*Message.across_tenants.values_list("content", flat=True)}
    texts |= {*Retrieval.across_tenants.values_list("query", flat=True)}
    addresses = [address_of(name) for name in PAGES_WITHOUT]
    for label in TABLES_WITHOUT:
        names = table_pages(label)
        addresses.append(reverse(names["changelist"]))
        if names["change"] not in page_reads.list_content():
            row = newest(apps.get_model(label))
            addresses += [reverse(names[kind], args=[row.pk]) for kind in ("change", "history")]
    for address in addresses:
        shown = html.unescape(browser.get(address).content.decode())
        assert not [text for text in texts if len(text) > 5 and text in shown], address


def test_pages_with_content_are_put_on_record_and_others_are_not(
    curator: Client, ana: Agent, cleo: Agent, told: uuid.UUID
) -> None:
    home = Conversation.objects.of(ana.tenant).get(external_id=told)
    fact = Fact.objects.of(ana.tenant).order_by("id")[0]
    curator.get(reverse("admin:index"), {"tenant": ""})
    curator.get(reverse("admin:jobs_job_changelist"), {"tenant": ana.tenant.name})
    assert read_log(ana) == []
    page = "admin:episodic_conversation_change"
    assert curator.get(reverse(page, args=[home.id])).status_code == 200
    assert curator.get(reverse("admin:semantic_fact_changelist")).status_code == 200
    assert curator.get(reverse("admin:semantic_fact_change", args=[fact.id])).status_code == 200
    assert curator.get(reverse(page, args=[uuid.uuid4()])).status_code == 404
    assert read_log(ana) == [
        ("curator", page, home.id),
        ("curator", "admin:semantic_fact_changelist", None),
        ("curator", "admin:semantic_fact_change", fact.id),
    ]
    assert read_log(cleo) == []


def test_a_refused_form_that_shows_content_again_is_on_record(
    curator: Client, ana: Agent, told: uuid.UUID
) -> None:
    fact = Fact.objects.of(ana.tenant).order_by("id")[0]
    page = "console:fact_correct"
    refused = curator.post(reverse(page, args=[fact.id]), {"tenant": ana.tenant.name})
    assert refused.status_code == 400 and fact.fact in html.unescape(refused.content.decode())
    assert read_log(ana) == [("curator", page, fact.id)]


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
    assert "one of conversations" in listed.content.decode()
    taken = {"table": "reads", "format": "csv", "tenant": ana.tenant.name}
    file = auditor.post(reverse("console:export_download"), taken)
    assert str(home.id) in b"".join(file.streaming_content).decode()  # type: ignore[attr-defined]
    taken["tenant"] = cleo.tenant.name
    file = auditor.post(reverse("console:export_download"), taken)
    assert str(home.id) not in b"".join(file.streaming_content).decode()  # type: ignore[attr-defined]
    assert curator.get(reverse("admin:console_pageread_changelist")).status_code == 403
    assert curator.post(reverse("console:export_download"), taken).status_code == 403
