"""Who may open and do what in the admin: one table, which a new page must be put into.

Roles are letters: `c`urator, `a`uditor, `o`perator, `s`uperuser, `n`obody, who is staff
without a role. Visitors who have not logged in are always sent to the login.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.test import Client, RequestFactory
from django.urls import URLResolver, get_resolver, reverse

from episodic.models import Conversation, Episode, Message, Withholding
from indexing.models import Memory, SearchUnit
from jobs.models import Job
from memoryproject.tenancy.models import APIKey, Tenant, TenantModel
from retrieval.models import MemoryTest, Retrieval
from semantic.curation import Act
from semantic.models import Changeset, Fact
from tests.admin.conftest import leave_rows_everywhere
from tests.admin.pages import newest
from tests.conftest import Agent, make_agent
from tests.console.visitors import SUPERUSER, visit_as
from tests.emptying import delete_all_rows
from wings.console.models import ImportRun
from wings.erasure.models import Erasure, Hold, RetentionPolicy
from wings.events.models import Webhook
from wings.instructions.models import InstructionVersion
from wings.notes.models import Link, Note
from wings.people.models import Person
from wings.transfer.fact_imports import start_import

pytestmark = pytest.mark.django_db

ROLES = {"c": "curator", "a": "auditor", "o": "operator", "s": SUPERUSER, "n": ""}
STAFF = "caosn"

TABLES = {
    "episodic.conversation": "cas",
    "episodic.episode": "cas",
    "episodic.message": "cas",
    "episodic.reveal": "cas",
    "episodic.review": "cas",
    "episodic.withholding": "cas",
    "episodic.erasedkey": "s",
    "erasure.erasure": "cas",
    "erasure.retentionpolicy": "cas",
    "erasure.hold": "cas",
    "semantic.fact": "cas",
    "semantic.evidence": "cas",
    "semantic.changeset": "cas",
    "semantic.change": "cas",
    "semantic.suggestion": "cas",
    "people.person": "cas",
    "people.alias": "cas",
    "people.merge": "cas",
    "instructions.instructionversion": "cas",
    "semantic.correctionmark": "cas",
    "semantic.triage": "cas",
    "notes.note": "cas",
    "notes.noteversion": "cas",
    "notes.link": "cas",
    "retrieval.retrieval": "cas",
    "retrieval.retrievalhit": "cas",
    "retrieval.context": "cas",
    "retrieval.contextsection": "cas",
    "retrieval.memorytest": "cas",
    "jobs.job": "caos",
    "jobs.llmcall": "caos",
    "jobs.workerrestart": "s",
    "ai.breaker": "caos",
    "events.webhook": "os",
    "events.event": "os",
    "tenancy.tenant": "caos",
    "tenancy.apikey": "caos",
    "tenancy.keyusage": "caos",
    "indexing.memory": "cs",
    "indexing.searchunit": "cs",
    "indexing.searchvector": "cs",
    "indexing.shelfsize": "cs",
    "indexing.wordcount": "cs",
    "indexing.vectorindex": "cs",
    "console.exportrun": "cas",
    "console.pageread": "as",
    "console.importrun": "cas",
    "console.importbatch": "s",
    "axes.accessattempt": "s",
    "axes.accesslog": "s",
    "auth.user": "s",
    "auth.group": "s",
}
"""Who sees the list, the pages and the history of each table."""

WRITES = {
    "auth.user": {"add": "s", "change": "s"},
    "auth.group": {"add": "s", "change": "s", "delete": "s"},
}
"""Who may do what Django's own forms do; nobody where nothing stands here."""

ACTIONS: dict[str, dict[str, str]] = {
    "jobs.job": {"retry_selected": "os"},
    "events.event": {"redeliver_selected": "os"},
    "semantic.fact": {"invalidate_selected": "cs", "restore_selected": "cs"},
    "auth.group": {"delete_selected": "s"},
    "auth.user": {"remove_second_factors": "s"},
}
"""Who may start each action from a list."""


@dataclass(frozen=True)
class Page:
    """Who may open a page, and what an empty form gets; others get `denied`."""

    may: str
    get: int = 200
    post: int = 405
    denied: int = 403


PAGES = {
    "console:fact_invalidate": Page("cs", get=302, post=400),
    "console:fact_restore": Page("cs", get=302, post=400),
    "console:fact_correct": Page("cs", get=302, post=400),
    "console:fact_marks": Page("cs", get=405, post=400),
    "console:ask_again": Page("cs", post=200),
    "console:facts_invalidate": Page("cs", get=405, post=400),
    "console:facts_restore": Page("cs", get=405, post=400),
    "console:changeset_revert": Page("cs", post=400),
    "console:note_change": Page("cs", get=302, post=400),
    "console:note_delete": Page("cs", get=302, post=400),
    "console:note_restore": Page("cs", get=404, post=404),  # the newest note is held
    "console:link_draw": Page("cs", get=405, post=400),
    "console:link_remove": Page("cs", post=302),
    "console:person_known": Page("cas", get=404, post=404),
    "console:person_new": Page("cs", post=400),
    "console:person_export": Page("cs", get=405, post=200),
    "console:person_merge": Page("cs", get=405, post=400),
    "console:person_unmerge": Page("cs", get=405, post=400),
    "console:instructions_new": Page("cs", post=302),  # an empty version clears them
    "console:instructions_undo": Page("cs", get=405, post=302),
    "console:compare": Page("cas", post=200),
    "console:review_queue": Page("cas", post=200),
    "console:review_decide": Page("cs", get=405, post=400),
    "console:review_allow": Page("cs", get=405, post=400),
    "console:certificate": Page("cas", post=200),
    "console:roll_back": Page("cs", post=400),
    "console:lift": Page("cs", get=405, post=302),
    "console:notifications": Page(STAFF, post=302),
    "console:notification_choice": Page(STAFF, post=400),
    "console:search": Page("cas", post=200),
    "console:case_file": Page("cas", post=200),
    "console:case": Page("cas", post=200),
    "console:case_test": Page("cs", get=405, post=400),
    "console:test_new": Page("cs", post=400),
    "console:test_run": Page("cs", get=405, post=302),
    "console:test_delete": Page("cs", get=405, post=302),
    "console:job_retry": Page("os", get=405, post=302),
    "console:job_cancel": Page("os", get=405, post=302),
    "console:key_new": Page("os", post=400),
    "console:key_revoke": Page("os", get=405, post=302),
    "console:key_rotate": Page("os", get=405, post=302),
    "console:key_rate": Page("os", get=405, post=302),
    "console:webhook_new": Page("os", post=400),
    "console:webhook_test": Page("os", get=405, post=302),
    "console:webhook_delete": Page("os", get=405, post=302),
    "console:budget": Page("os", post=400),
    "console:limits": Page("os", post=400),
    "console:tour": Page(STAFF, post=200),
    "console:try_it": Page("cs", post=400),
    "console:try_it_flush": Page("cs", get=405, post=302),
    "console:try_it_erase": Page("s", get=405, post=302),
    "console:playground": Page("cs", post=200),
    "console:export": Page("cas", post=200),
    "console:export_download": Page("cas", get=405, post=200),
    "console:import": Page("cs", post=400),
    "console:import_run": Page("cs", post=200),
    "console:import_decide": Page("cs", get=405, post=400),
    "console:import_step": Page("cs", get=405, post=302),
    "console:reveal": Page("as", get=405, post=302),
    "console:policy_new": Page("s", post=400),
    "console:policy_delete": Page("s", post=302),
    "console:hold_new": Page("s", post=400),
    "console:hold_lift": Page("s", post=302),
    "console:erase_message": Page("s", post=400),
    "console:erase_conversation": Page("s", post=400),
    "console:erase_note": Page("s", post=400),
    "console:erase_user": Page("s", post=400),
    "console:erase_person": Page("s", post=400),
    "console:erase_import": Page("s", post=400),
    "console:erase_tenant": Page("s", post=400),
    "mfa_index": Page(STAFF, post=302),
    "mfa_activate_totp": Page(STAFF, post=200),
    "mfa_deactivate_totp": Page(STAFF, get=404, post=404),  # there is none
    "mfa_view_recovery_codes": Page(STAFF, get=404),
    "mfa_generate_recovery_codes": Page(STAFF, post=200),
    "account_reauthenticate": Page(STAFF, get=403, post=403),  # nothing to confirm with
    "mfa_reauthenticate": Page(STAFF, get=403, post=403),
    "admin:index": Page(STAFF, post=200),
    "admin:app_list": Page("cas", post=200, denied=404),
    "admin:password_change": Page(STAFF, post=200),
    "admin:password_change_done": Page(STAFF),
    "admin:auth_user_password_change": Page("s", post=200),
    "admin:autocomplete": Page(STAFF, get=403),
    "admin:jsi18n": Page(STAFF),
    "admin:view_on_site": Page(STAFF, get=404, post=404),
    "admin:search": Page("cas", post=200),  # the theme's own, in whose place ours stands
}
"""The pages that are not about one table; a new one is put here."""

DOORS = {
    "admin:login", "admin:logout", "account_login", "mfa_authenticate", "oidc_login",
    "oidc_callback", "account_inactive",
}  # fmt: skip
"""These are for everybody; `test_login` and `test_signin` go through them."""


@pytest.fixture(scope="module")
def past(django_db_setup: None, django_db_blocker: Any) -> Iterator[Agent]:
    """Return ana, whose conversation has left a row in every table; gone after this file."""
    with django_db_blocker.unblock():
        ana = make_agent("ana's", "ana")
        leave_rows_everywhere(ana)
        User.objects.create_user("somebody")
        yield ana
        delete_all_rows()


def named_addresses() -> set[str]:
    """Return the name of every address below `admin/`."""
    found: set[str] = set()

    def walk(patterns: list[Any], names: str) -> None:
        for pattern in patterns:
            if isinstance(pattern, URLResolver):
                inner = f"{pattern.namespace}:" if pattern.namespace else names
                walk(pattern.url_patterns, inner)
            elif pattern.name:
                found.add(names + pattern.name)

    for resolver in get_resolver().url_patterns:
        if str(resolver.pattern) == "admin/":
            walk([resolver], "")
    return found


def table_pages(label: str) -> dict[str, str]:
    """Return the names of the addresses that Django gives a table, by what they do."""
    stem = f"admin:{label.replace('.', '_')}"
    kinds = ("changelist", "change", "history", "add", "delete")
    return {kind: f"{stem}_{kind}" for kind in kinds}


def test_every_table_and_every_page_stands_in_the_matrix() -> None:
    registered = {model._meta.label_lower for model in admin.site._registry}
    assert set(TABLES) == registered
    assert set(WRITES) | set(ACTIONS) <= registered
    of_tables = {name for label in TABLES for name in table_pages(label).values()}
    assert named_addresses() - of_tables - DOORS == set(PAGES)


def address_of(name: str) -> str:
    """Return the address of a page about rows that are there."""
    patterns = get_resolver()
    for part in name.split(":")[:-1]:
        patterns = patterns.namespace_dict[part][1]
    slots = patterns.reverse_dict.getlist(name.split(":")[-1])[0][0][0][1]
    return reverse(name, kwargs={slot: fill_slot(slot) for slot in slots})


def fill_slot(slot: str) -> Any:
    rows: dict[str, type[Model]] = {
        "conversation_id": Conversation,
        "episode_id": Episode,
        "message_id": Message,
        "fact_id": Fact,
        "link_id": Link,
        "memory_id": Memory,
        "note_id": Note,
        "person_id": Person,
        "version_id": InstructionVersion,
        "changeset_id": Changeset,
        "retrieval_id": Retrieval,
        "erasure_id": Erasure,
        "job_id": Job,
        "key_id": APIKey,
        "tenant_id": Tenant,
        "run_id": ImportRun,
        "withholding_id": Withholding,
        "test_id": MemoryTest,
        "webhook_id": Webhook,
        "policy_id": RetentionPolicy,
        "hold_id": Hold,
        "id": User,
    }
    if slot == "import_id":
        act = Act(tenant=newest(Changeset).tenant, actor="somebody", reason="a test")
        return start_import(act=act, source="mem0").id
    if slot in rows:
        return newest(rows[slot]).pk
    of_no_row = {"app_label": "episodic", "object_id": newest(Fact).pk}
    return {**of_no_row, "content_type_id": ContentType.objects.get_for_model(Fact).pk}[slot]


def differences(browser: Client, expected: list[tuple[str, str, int]]) -> list[str]:
    """Return what answers otherwise than expected: triples (method, address, status)."""
    return [
        f"{method} {address}: {answer.status_code}, not {status}"
        for method, address, status in expected
        if (answer := browser.generic(method, address)).status_code != status
    ]


@pytest.mark.gate
@pytest.mark.parametrize(
    "letter", ["c", "s", "n", *(pytest.param(one, marks=pytest.mark.bench) for one in "ao")]
)
def test_a_role_opens_its_tables_and_no_others(letter: str, past: Agent) -> None:
    expected = []
    for label, seen_by in TABLES.items():
        model = apps.get_model(label)
        row = newest(model)
        writes = {kind: letter in who for kind, who in WRITES.get(label, {}).items()}
        names = table_pages(label)
        for kind in ("changelist", "change", "history"):
            address = reverse(names[kind], args=[] if kind == "changelist" else [row.pk])
            # The history looks for the row first, and who is nobody sees none of a tenant.
            unseen = letter == "n" and kind == "history" and isinstance(row, TenantModel | Tenant)
            unseen &= model is not SearchUnit  # read by statements
            denied = 404 if unseen else 403
            expected.append(("GET", address, 200 if letter in seen_by else denied))
        for kind in ("add", "delete"):
            address = reverse(names[kind], args=[] if kind == "add" else [row.pk])
            status = 200 if writes.get(kind) else 403
            expected += [("GET", address, status), ("POST", address, status)]
        status = 200 if writes.get("change") else 403
        expected.append(("POST", reverse(names["change"], args=[row.pk]), status))
    assert "\n".join(differences(visit_as(ROLES[letter]), expected)) == ""


@pytest.mark.gate
@pytest.mark.parametrize("letter", ROLES)
def test_a_role_opens_its_pages_and_no_others(letter: str, past: Agent) -> None:
    expected = []
    for name, page in PAGES.items():
        may = letter in page.may
        expected.append(("GET", address_of(name), page.get if may else page.denied))
        expected.append(("POST", address_of(name), page.post if may else page.denied))
    assert "\n".join(differences(visit_as(ROLES[letter]), expected)) == ""


@pytest.mark.parametrize("letter", ROLES)
def test_a_role_is_offered_its_actions_and_no_others(letter: str, past: Agent) -> None:
    browser = visit_as(ROLES[letter])
    request = RequestFactory().get("/admin/")
    request.user = User.objects.get(pk=browser.session["_auth_user_id"])
    for model, shown_by in admin.site._registry.items():
        label = model._meta.label_lower
        offered = set(shown_by.get_actions(request)) if letter in TABLES[label] else set()
        actions = ACTIONS.get(label, {})
        assert offered == {name for name, who in actions.items() if letter in who}, label


def test_a_visitor_is_sent_to_the_login_from_everywhere(visitor: Client, past: Agent) -> None:
    addresses = [address_of(name) for name in PAGES]
    for label in TABLES:
        row, names = newest(apps.get_model(label)), table_pages(label)
        addresses += [reverse(names[kind]) for kind in ("changelist", "add")]
        addresses += [reverse(names[kind], args=[row.pk]) for kind in ("change", "delete")]
    for address in addresses:
        for method in ("GET", "POST"):
            answer = visitor.generic(method, address)
            assert answer.status_code == 302, address
            assert answer["Location"].startswith("/admin/login/"), address


@pytest.mark.parametrize("flaw", [{"is_staff": False}, {"is_active": False}])
def test_a_role_alone_opens_nothing(flaw: dict[str, bool], past: Agent) -> None:
    browser = visit_as("curator")
    User.objects.filter(username="curator").update(**flaw)
    for name in ("admin:index", "console:playground", "admin:semantic_fact_changelist"):
        assert browser.get(reverse(name)).status_code == 302, name


def test_who_loses_a_role_loses_its_pages_at_once(past: Agent) -> None:
    browser = visit_as("curator")
    assert browser.get(reverse("console:playground")).status_code == 200
    User.objects.get(username="curator").groups.remove(Group.objects.get(name="curator"))
    assert browser.get(reverse("console:playground")).status_code == 403
