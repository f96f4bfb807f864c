"""Who has a role in some tenants sees these and no others, one at a time, whatever is asked."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from memoryproject.tenancy.models import Membership, Tenant, TenantModel
from semantic.models import Fact
from tests.admin.conftest import leave_rows_everywhere
from tests.admin.pages import newest
from tests.conftest import Agent, make_agent, tell
from tests.console.test_matrix import PAGES, TABLES, address_of, table_pages
from tests.console.visitors import SUPERUSER, visit_as
from tests.emptying import delete_all_rows

pytestmark = pytest.mark.django_db


def visit_as_member(roles: dict[Tenant, str]) -> Client:
    """Return the browser of somebody who has a role in each of these tenants."""
    person = User.objects.create_user("member", is_staff=True)
    for tenant, role in roles.items():
        Membership.objects.create(tenant=tenant, person=person, role=Group.objects.get(name=role))
    browser = Client(SERVER_NAME="localhost")
    browser.force_login(person)
    return browser


@pytest.fixture(scope="module")
def past(django_db_setup: None, django_db_blocker: Any) -> Iterator[Agent]:
    """Return dora, whose conversation has left a row in every table; gone after this file."""
    with django_db_blocker.unblock():
        dora = make_agent("dora's", "dora")
        leave_rows_everywhere(dora)
        yield dora
        delete_all_rows()


@pytest.mark.gate
@pytest.mark.parametrize(
    "role", ["curator", pytest.param("auditor", marks=pytest.mark.bench), "operator"]
)
def test_a_member_of_one_tenant_finds_no_row_of_another(role: str, past: Agent) -> None:
    """Every table, and every page about a row, asked with the ids of the other tenant."""
    mine = make_agent("ana's", "ana").tenant
    browser = visit_as_member({mine: role})
    for label, seen_by in TABLES.items():
        model = apps.get_model(label)
        if not issubclass(model, TenantModel | Tenant) or role[0] not in seen_by:
            continue
        names, row = table_pages(label), newest(model)
        answer = browser.get(reverse(names["changelist"]))
        ids = {one.pk for one in answer.context["cl"].result_list}
        theirs = model._default_manager if model is Tenant else model.across_tenants  # type: ignore[attr-defined]
        owner = {"pk": past.tenant.pk} if model is Tenant else {"tenant": past.tenant}
        assert not ids & set(theirs.filter(**owner).values_list("pk", flat=True)), label
        for kind in ("change", "history"):
            address = reverse(names[kind], args=[row.pk])
            owned = row.pk == mine.pk or getattr(row, "tenant_id", None) == mine.pk
            assert owned or browser.get(address).status_code == 404, address
    for name, page in PAGES.items():
        if role[0] not in page.may or "/" not in name.replace(":", "/"):
            continue
        address = address_of(name)
        for method in ("GET", "POST"):
            text = browser.generic(method, f"{address}?tenant=dora%27s").content.decode()
            assert "Mira" not in text and "Ghent" not in text, (method, name)


def test_a_role_holds_in_its_own_tenant_alone(ana: Agent, cleo: Agent) -> None:
    browser = visit_as_member({ana.tenant: "curator", cleo.tenant: "auditor"})
    playground = reverse("console:playground")
    assert browser.get(playground, {"tenant": "ana's"}).status_code == 200
    assert browser.get(playground).status_code == 200
    assert browser.get(playground, {"tenant": "cleo's"}).status_code == 403
    assert browser.get(playground).status_code == 403, "what was chosen stays"


def test_a_member_acts_on_no_fact_of_a_tenant_in_which_he_may_only_look(
    ana: Agent, cleo: Agent
) -> None:
    tell(cleo, uuid.uuid4())
    fact = Fact.objects.of(cleo.tenant).filter(invalid_at=None).order_by("id")[0]
    browser = visit_as_member({ana.tenant: "curator", cleo.tenant: "auditor"})
    form = {"reason": "a try", "version": fact.version, "because": "wrong"}
    for named in ("ana's", "cleo's"):
        address = reverse("console:fact_invalidate", args=[fact.id])
        answer = browser.post(f"{address}?tenant={named.replace(chr(39), '%27')}", form)
        assert answer.status_code in {403, 404}
        assert browser.post(address, {**form, "tenant": named}).status_code in {403, 404}
    fact.refresh_from_db()
    assert fact.invalid_at is None


def test_the_switcher_offers_what_one_may_see(ana: Agent, cleo: Agent) -> None:
    make_agent("bo's", "bo")
    member = visit_as_member({ana.tenant: "auditor", cleo.tenant: "auditor"})

    def offered(browser: Client, **query: str) -> list[str]:
        choice = browser.get(reverse("admin:index"), query).wsgi_request.tenants  # type: ignore[attr-defined]
        return [tenant.name for tenant in choice.offered]

    assert offered(member) == ["ana's", "cleo's"]
    assert {"ana's", "bo's", "cleo's"} <= set(offered(visit_as(SUPERUSER)))
    page = member.get(reverse("admin:index"), {"tenant": "bo's"})
    assert "No tenant is named “bo&#x27;s”" in page.content.decode()
    assert page.wsgi_request.tenants.current == ana.tenant  # type: ignore[attr-defined]
    page = member.get(reverse("admin:index"), {"tenant": ""})
    assert page.wsgi_request.tenants.current == ana.tenant  # type: ignore[attr-defined]


def test_a_search_counts_what_the_other_tenants_hold(ana: Agent, cleo: Agent) -> None:
    cleo.say(uuid.uuid4(), "My piano is made of glass.")
    make_agent("bo's", "bo").say(uuid.uuid4(), "A glass of water.")
    browser = visit_as_member({ana.tenant: "auditor", cleo.tenant: "curator"})
    page = browser.get(reverse("console:search"), {"q": "glass"})
    assert [(one, count) for one, count in page.context["elsewhere"]] == [(cleo.tenant, "1")]
    everywhere = visit_as("curator").get(reverse("console:search"), {"q": "glass"})
    assert [str(one) for one, _ in everywhere.context["elsewhere"]] == ["bo's", "cleo's"]


def test_who_loses_the_last_membership_sees_nothing(ana: Agent) -> None:
    browser = visit_as_member({ana.tenant: "curator"})
    assert browser.get(reverse("admin:semantic_fact_changelist")).status_code == 200
    Membership.objects.of(ana.tenant).delete()
    assert browser.get(reverse("admin:semantic_fact_changelist")).status_code == 403
    assert ana.tenant.name not in browser.get(reverse("admin:index")).content.decode()


def test_a_page_of_one_tenant_asks_for_it(curator: Client, ana: Agent, cleo: Agent) -> None:
    page = curator.get(reverse("console:playground"), {"query": "Where?"})
    assert page.status_code == 200
    assert "?query=Where%3F&amp;tenant=cleo%27s" in page.content.decode()
    assert curator.post(reverse("console:export_download"), {}).status_code == 400


def test_people_are_made_members_by_a_command_and_by_a_superuser(
    boss: Client, ana: Agent, cleo: Agent, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("make_person", "mia", role="auditor", tenant=["ana's"])
    mia = User.objects.get(username="mia")
    assert [str(one) for one in Membership.objects.of(ana.tenant)] == ["auditor of ana's"]
    assert not mia.groups.exists()
    boss.get(reverse("admin:index"), {"tenant": "ana's"})
    address = reverse("admin:auth_user_change", args=[mia.pk])
    form = boss.get(address).context["adminform"].form.initial
    posted = {
        "username": "mia", "is_active": "on", "is_staff": "on",
        "date_joined_0": form["date_joined"].date(), "date_joined_1": "10:00:00",
        "memberships-TOTAL_FORMS": 2, "memberships-INITIAL_FORMS": 1,
        "memberships-0-id": Membership.objects.of(ana.tenant).get().id,
        "memberships-0-person": mia.pk, "memberships-0-tenant": ana.tenant.id,
        "memberships-0-role": Group.objects.get(name="curator").pk,
        "memberships-1-person": mia.pk, "memberships-1-tenant": cleo.tenant.id,
        "memberships-1-role": Group.objects.get(name="operator").pk,
    }  # fmt: skip
    assert boss.post(address, posted).status_code == 302
    assert [str(one) for one in Membership.objects.of(cleo.tenant)] == ["operator of cleo's"]
    assert [str(one) for one in Membership.objects.of(ana.tenant)] == ["curator of ana's"]
