"""Operators make, limit, rotate and revoke keys, and set budgets: all of it on record."""

from __future__ import annotations

import html
import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs import claims, spending
from memoryproject.tenancy.models import APIKey, Tenant
from tests.conftest import Agent
from tests.console.operators import SCRIPT, make_job, post, read, records_of

pytestmark = pytest.mark.django_db


def new_key(owner: Tenant, /, **changed: Any) -> dict[str, Any]:
    return {
        "key_id": str(uuid.uuid4()),
        "tenant": owner.name,
        "name": "the shop's bot",
        "scopes": ["ingest", "read"],
        "links": "defanged",
        "expires_on": "",
        **changed,
    }


def test_a_key_is_made_its_secret_shown_once_and_works(operator: Client, ana: Agent) -> None:
    page = operator.get(reverse("console:key_new"), {"tenant": ana.tenant.name})
    assert page.status_code == 200 and page.context["form"]["key_id"].value()
    given = new_key(ana.tenant, key_id=str(page.context["form"]["key_id"].value()))
    answer = post(operator, "key_new", **given)
    secret = answer.context["secret"]
    assert answer.content.decode().count(secret) == 1
    assert "no-store" in answer["Cache-Control"]
    called = Client(headers={"authorization": f"Bearer {secret}"}, SERVER_NAME="localhost")
    assert called.get("/api/v0/facts").status_code == 200
    assert called.get("/api/v0/usage").status_code == 403
    key = APIKey.objects.of(ana.tenant).get(name="the shop's bot")
    assert (key.scopes, key.expires_at) == (["ingest", "read"], None)
    assert records_of(key) == [("operator", "made it for ingest, read")]
    assert secret not in read(operator, key)
    assert secret not in str(list(LogEntry.objects.values()))


def test_a_key_is_made_for_some_users_and_prints_links_plain(operator: Client, ana: Agent) -> None:
    post(operator, "key_new", **new_key(ana.tenant, user_ids="mira-1\n jonas \n", links="plain"))
    key = APIKey.objects.of(ana.tenant).get(name="the shop's bot")
    assert (key.user_ids, key.links) == (["mira-1", "jonas"], "plain")
    assert "mira-1" in read(operator, key)


def test_sending_the_form_twice_makes_one_key(operator: Client, ana: Agent) -> None:
    given = new_key(ana.tenant)
    post(operator, "key_new", **given)
    again = post(operator, "key_new", **given)
    assert "cannot be shown again" in again.content.decode()
    assert APIKey.objects.of(ana.tenant).filter(name="the shop's bot").count() == 1


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"tenant": "nobody's"}, "No tenant has this name."),
        ({"tenant": ""}, "required"),
        ({"name": "a\nb"}, "printed"),
        ({"name": "x" * 201}, "200"),
        ({"name": "\x00"}, "Null characters"),
        ({"scopes": []}, "Choose at least one."),
        ({"scopes": ["root"]}, "root is not one of the available choices"),
        ({"expires_on": "2020-01-31"}, "This day is over."),
        ({"expires_on": "9999-12-31"}, "too far"),
        ({"expires_on": "tomorrow"}, "valid date"),
        ({"key_id": "x"}, "valid UUID"),
        ({"user_ids": "x" * 256}, "255 characters"),
        ({"links": "bold"}, "bold is not one of the available choices"),
    ],
)
def test_a_form_with_a_fault_comes_back_with_words(
    operator: Client, ana: Agent, changed: dict[str, Any], says: str
) -> None:
    before = APIKey.across_tenants.count()
    answer = post(operator, "key_new", **new_key(ana.tenant, **changed))
    assert answer.status_code == 400
    assert says in html.unescape(answer.content.decode())
    assert APIKey.across_tenants.count() == before


def test_a_key_lasts_to_the_end_of_its_last_day(operator: Client, ana: Agent) -> None:
    today = timezone.now().date()
    post(operator, "key_new", **new_key(ana.tenant, expires_on=today.isoformat()))
    key = APIKey.objects.of(ana.tenant).get(name="the shop's bot")
    assert key.expires_at is not None
    assert key.expires_at.date() == today + timedelta(days=1)
    assert timezone.now() < key.expires_at


def test_a_keys_new_secret_is_shown_once_and_the_old_one_lasts(
    operator: Client, ana: Agent
) -> None:
    assert "Make a new secret" in read(operator, ana.key)
    given = {"replaced": ana.key.prefix, "grace_hours": "2"}
    answer = post(operator, "key_rotate", ana.key.id, **given)
    secret = answer.context["secret"]
    assert answer.content.decode().count(secret) == 1 and "no-store" in answer["Cache-Control"]
    for one in (ana.secret, secret):
        called = Client(headers={"authorization": f"Bearer {one}"}, SERVER_NAME="localhost")
        assert called.get("/api/v0/facts").status_code == 200
    text = read(operator, ana.key)
    assert "Old secret ends" in text and secret not in text
    what = "gave it a new secret; the old one ends after 2 hours"
    assert records_of(ana.key) == [("operator", what)]
    again = post(operator, "key_rotate", ana.key.id, **given)
    assert "cannot be shown again" in again.content.decode()
    assert records_of(ana.key) == [("operator", what)]


@pytest.mark.parametrize("hours", ["", "-1", "2161", "soon", "1.5"])
def test_a_grace_that_is_none_changes_no_secret(operator: Client, ana: Agent, hours: str) -> None:
    given = {"replaced": ana.key.prefix, "grace_hours": hours}
    answer = post(operator, "key_rotate", ana.key.id, **given)
    assert "from 0 to 2160" in answer.content.decode()
    assert APIKey.objects.of(ana.tenant).get().hash == ana.key.hash


def test_a_key_gets_a_rate_of_its_own_and_the_servers_again(operator: Client, ana: Agent) -> None:
    for given, held in (("600", 600), ("0", 0), ("", None)):
        assert post(operator, "key_rate", ana.key.id, rate=given).status_code == 200
        assert APIKey.objects.of(ana.tenant).get().rate == held
    assert "no limit" in read(operator, ana.key)
    for given in ("-1", "x", "1000001"):
        answer = post(operator, "key_rate", ana.key.id, rate=given)
        assert "whole number from 0 to 1000000" in answer.content.decode()
    assert [what for _, what in records_of(ana.key)] == [
        "set its calls to: 600 a minute",
        "set its calls to: no limit",
        "set its calls to: no limit (the server's)",
    ]


def test_a_new_key_has_the_rate_of_the_form(operator: Client, ana: Agent) -> None:
    post(operator, "key_new", **new_key(ana.tenant, rate="60"))
    assert APIKey.objects.of(ana.tenant).get(name="the shop's bot").rate == 60


def test_names_are_escaped(operator: Client, ana: Agent) -> None:
    answer = post(operator, "key_new", **new_key(ana.tenant, name=SCRIPT))
    key = APIKey.objects.of(ana.tenant).get(name=SCRIPT)
    page = operator.get(reverse("admin:tenancy_apikey_change", args=[key.pk]))
    for text in (answer.content.decode(), page.content.decode()):
        assert SCRIPT not in text and html.escape(SCRIPT) in text


def test_a_revoked_key_is_refused_and_stays_revoked(operator: Client, ana: Agent) -> None:
    assert ana.get("facts").status_code == 200
    assert "Revoke this key" in read(operator, ana.key)
    post(operator, "key_revoke", ana.key.id)
    assert ana.get("facts").status_code == 401
    again = post(operator, "key_revoke", ana.key.id)
    assert "This key is revoked already." in again.content.decode()
    assert records_of(ana.key) == [("operator", "revoked it")]
    assert "Revoke this key" not in read(operator, ana.key)


# ---- budgets


def set_budget(browser: Client, tenant: Tenant, **given: Any) -> Any:
    answer = post(browser, "budget", tenant.id, **given)
    tenant.refresh_from_db()
    return answer


@pytest.fixture
def priced() -> None:
    """The model in use has a price."""
    assert spending.find_price(settings.CHAT_MODEL) is not None


def test_a_budget_is_set_and_taken_off_again(operator: Client, ana: Agent, priced: None) -> None:
    set_budget(operator, ana.tenant, kind="own", amount="2.50")
    assert spending.find_budget(ana.tenant) == Decimal("2.50")
    set_budget(operator, ana.tenant, kind="none")
    assert ana.tenant.settings == {spending.SETTING: None}
    set_budget(operator, ana.tenant, kind="default")
    assert ana.tenant.settings == {}
    assert [what for _, what in records_of(ana.tenant)] == [
        "set the budget to 2.50 a day",
        "took every limit off the budget",
        "set the budget to the server’s",
    ]
    assert "took every limit off" in read(operator, ana.tenant)


def test_a_budget_leaves_the_other_settings_alone_and_lets_parked_jobs_go_on(
    operator: Client, ana: Agent, priced: None
) -> None:
    ana.tenant.settings = {"default_scope": "user"}
    ana.tenant.save()
    parked = make_job(ana, error_class="BudgetSpent", run_after=Now() + timedelta(hours=5))
    answer = set_budget(operator, ana.tenant, kind="own", amount="1")
    assert "1 job that waited" in answer.content.decode()
    assert ana.tenant.settings == {"default_scope": "user", spending.SETTING: "1"}
    assert claims.claim(parked.id) is not None


@pytest.mark.parametrize("amount", ["", "-1", "nan", "Infinity", "1e9", "1000001", "much"])
def test_an_amount_that_is_none_is_refused_in_words(
    operator: Client, ana: Agent, priced: None, amount: str
) -> None:
    answer = set_budget(operator, ana.tenant, kind="own", amount=amount)
    assert answer.status_code == 400 and 'class="act-error"' in answer.content.decode()
    assert ana.tenant.settings == {} and records_of(ana.tenant) == []


def test_a_budget_needs_a_price(operator: Client, ana: Agent, settings: Any) -> None:
    settings.CHAT_MODEL = "a model of my own"
    answer = set_budget(operator, ana.tenant, kind="own", amount="1")
    assert "has no price" in answer.content.decode()
    assert ana.tenant.settings == {}


def test_what_there_is_not_is_not_found(operator: Client) -> None:
    for name in ("job_retry", "job_cancel", "key_revoke", "budget"):
        assert post(operator, name, uuid.uuid4()).status_code == 404


def test_the_limits_of_a_tenant_are_set_and_taken_off(operator: Client, ana: Agent) -> None:
    given = {"rate": "60", "byte_rate": "", "ask_rate": "0", "ask_budget": "0", "quota_rows": "50"}
    refused = post(
        operator, "limits", ana.tenant.id, **{**given, "rate": "-1"}, default_scope="user"
    )
    assert refused.status_code == 400
    post(operator, "limits", ana.tenant.id, **given, default_scope="user")
    ana.tenant.refresh_from_db()
    own = {"rate": 60, "ask_rate": 0, "ask_budget": None, "quota_rows": 50, "default_scope": "user"}
    assert ana.tenant.settings.items() >= own.items()
    page = read(operator, ana.tenant)
    assert "Calls: 60 a minute" in page and "messages and notes: 50" in page
    (record,) = records_of(ana.tenant)
    limits = "rate 60, ask_rate 0, ask_budget 0, quota_rows 50, default_scope user"
    assert record[1] == f"set its limits: {limits}"
    post(operator, "limits", ana.tenant.id, default_scope="conversation")
    ana.tenant.refresh_from_db()
    assert not {"rate", "ask_rate", "ask_budget", "quota_rows"} & ana.tenant.settings.keys()
