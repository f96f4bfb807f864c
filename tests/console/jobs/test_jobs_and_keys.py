"""Operators retry and cancel jobs, make and revoke keys, set budgets: all of it on record."""

from __future__ import annotations

import html
import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from console.texts import TEXTS
from episodic.models import Episode, Message
from jobs import claims, spending
from jobs.draining import drain_jobs
from jobs.models import Job, Kind, LLMCall, State
from jobs.reconciler import reconcile
from jobs.retrying import cancel_job, retry_job
from memoryproject.edge.errors import Conflict
from memoryproject.tenancy.models import APIKey, Tenant
from semantic.models import Changeset
from tests.conftest import Agent
from tests.talk import whole_talk

pytestmark = pytest.mark.django_db
SCRIPT = "<script>alert(1)</script>"


def make_job(agent: Agent, **given: Any) -> Job:
    if given.get("state") == State.RUNNING:
        given |= {"lease_token": uuid.uuid4(), "lease_until": Now() + timedelta(seconds=30)}
    return Job.objects.create(
        **{"tenant": agent.tenant, "kind": Kind.FLUSH, "scope": uuid.uuid4(), **given}
    )


def post(browser: Client, page: str, /, *ids: Any, **given: Any) -> Any:
    return browser.post(reverse(f"console:{page}", args=ids), given, follow=True)


def read(browser: Client, row: Any) -> str:
    """Return the text of a row's page."""
    answer = browser.get(
        reverse(f"admin:{row._meta.label_lower.replace('.', '_')}_change", args=[row.pk])
    )
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def records_of(row: Any) -> list[tuple[str, str]]:
    entries = LogEntry.objects.filter(object_id=str(row.pk)).order_by("id")
    return [(entry.user.get_username(), entry.get_change_message()) for entry in entries]


# ---- jobs


@pytest.mark.parametrize("state", [State.DEAD, State.CANCELLED])
def test_an_operator_retries_a_job_that_stopped(operator: Client, ana: Agent, state: State) -> None:
    job = make_job(ana, state=state, attempts=5, error_class="Odd", finished_at=timezone.now())
    assert "Retry this job" in read(operator, job)
    assert post(operator, "job_retry", job.id).status_code == 200
    job.refresh_from_db()
    assert (job.state, job.attempts, job.finished_at) == (State.READY, 0, None)
    assert records_of(job) == [("operator", "retried it")]
    assert "retried it" in read(operator, job)


def test_a_retried_job_does_its_work(operator: Client, ana: Agent, conversation: uuid.UUID) -> None:
    body = {"conversation_id": str(conversation), "messages": whole_talk()}
    assert ana.post("add_messages", body).status_code == 201
    assert ana.post("flush", {"conversation_id": str(conversation)}).status_code == 202
    Job.objects.of(ana.tenant).update(state=State.DEAD, finished_at=Now())
    job = Job.objects.of(ana.tenant).get(kind=Kind.FLUSH)
    post(operator, "job_retry", job.id)
    drain_jobs()
    job.refresh_from_db()
    assert job.state == State.DONE and Episode.objects.of(ana.tenant).exists()


def test_a_job_that_waits_can_be_given_up_and_taken_up_again(operator: Client, ana: Agent) -> None:
    job = make_job(ana)
    assert "Cancel this job" in read(operator, job)
    post(operator, "job_cancel", job.id)
    job.refresh_from_db()
    assert job.state == State.CANCELLED and job.finished_at is not None
    assert claims.claim(job.id) is None and reconcile() == 0
    assert records_of(job) == [("operator", "cancelled it")]
    post(operator, "job_retry", job.id)
    assert claims.claim(job.id) is not None


@pytest.mark.parametrize("kind", Kind)
def test_a_job_of_each_kind_says_what_becomes_of_its_work(
    operator: Client, ana: Agent, kind: Kind
) -> None:
    assert TEXTS["if_cancelled"][kind] in read(operator, make_job(ana, kind=kind))


@pytest.mark.parametrize("state", [State.RUNNING, State.DONE, State.DEAD, State.CANCELLED])
def test_only_a_job_that_waits_is_cancelled(operator: Client, ana: Agent, state: State) -> None:
    job = make_job(ana, state=state)
    assert "Cancel this job" not in read(operator, job)
    answer = post(operator, "job_cancel", job.id)
    assert "Only a job that waits can be cancelled." in answer.content.decode()
    job.refresh_from_db()
    assert job.state == state and records_of(job) == []


def test_a_claimed_job_is_not_cancelled_and_a_cancelled_one_not_claimed(ana: Agent) -> None:
    claimed = make_job(ana)
    assert claims.claim(claimed.id) is not None
    with pytest.raises(Conflict):
        cancel_job(job=claimed)
    given_up = cancel_job(job=make_job(ana))
    assert claims.claim(given_up.id) is None


def test_messages_of_a_cancelled_job_get_their_episodes_all_the_same(
    operator: Client, ana: Agent, conversation: uuid.UUID
) -> None:
    body = {"conversation_id": str(conversation), "messages": whole_talk() + whole_talk()[:6]}
    assert ana.post("add_messages", body).status_code == 201
    job = Job.objects.of(ana.tenant).get(kind=Kind.SEGMENT)
    post(operator, "job_cancel", job.id)
    while reconcile() + drain_jobs().ran:
        pass
    assert Message.objects.of(ana.tenant).filter(episode=None).count() < 22
    assert Episode.objects.of(ana.tenant).exists()


def test_a_retry_beside_a_twin_that_waits_is_refused_in_words(operator: Client, ana: Agent) -> None:
    dead = make_job(ana, state=State.DEAD)
    make_job(ana, scope=dead.scope)
    answer = post(operator, "job_retry", dead.id)
    assert "Another job of the same kind is ready already." in answer.content.decode()
    assert records_of(dead) == []


def test_dead_jobs_are_retried_together(operator: Client, ana: Agent, cleo: Agent) -> None:
    dead = [make_job(agent, state=State.DEAD, error_class="Odd") for agent in (ana, ana, cleo)]
    done = make_job(ana, state=State.DONE)
    twin = make_job(ana, scope=dead[0].scope)
    chosen = {
        "action": "retry_selected",
        "_selected_action": [str(job.id) for job in (*dead, done)],
    }
    answer = operator.post(reverse("admin:jobs_job_changelist"), chosen, follow=True)
    text = html.unescape(answer.content.decode())
    assert "2 jobs ready again." in text and "2 left as they are" in text
    states = dict(Job.across_tenants.values_list("id", "state"))
    assert [states[job.id] for job in dead] == [State.DEAD, State.READY, State.READY]
    assert states[done.id] == State.DONE and states[twin.id] == State.READY
    assert [records_of(job) for job in dead[1:]] == [[("operator", "retried it")]] * 2


@pytest.mark.parametrize("role", ["curator", "auditor", "nobody"])
def test_others_neither_see_the_buttons_nor_can_press_them(
    role: str, request: pytest.FixtureRequest, ana: Agent
) -> None:
    browser: Client = request.getfixturevalue(role)
    job = make_job(ana, state=State.DEAD)
    for name, ids in (
        ("job_retry", [job.id]), ("job_cancel", [job.id]),
        ("key_new", []), ("key_revoke", [ana.key.id]), ("budget", [ana.tenant.id]),
        ("key_rotate", [ana.key.id]), ("key_rate", [ana.key.id]),
    ):  # fmt: skip
        assert post(browser, name, *ids).status_code == 403, name
    if role != "nobody":
        for row in (job, ana.key, ana.tenant):
            text = read(browser, row)
            assert "/retry/" not in text and "/revoke/" not in text and "/budget/" not in text
    job.refresh_from_db()
    assert job.state == State.DEAD and not LogEntry.objects.exists()


def test_a_form_without_the_token_is_refused(ana: Agent, operator: Client) -> None:
    strict = Client(SERVER_NAME="localhost", enforce_csrf_checks=True)
    strict.cookies = operator.cookies
    job = make_job(ana)
    assert strict.post(reverse("console:job_cancel", args=[job.id])).status_code == 403


def test_a_job_tells_its_path_and_what_it_made(boss: Client, ana: Agent, told: uuid.UUID) -> None:
    # In a test all is one transaction, whose beginning is the time of what it writes.
    Job.objects.of(ana.tenant).update(started_at=Now() - timedelta(minutes=5))
    job = Job.objects.of(ana.tenant).get(kind=Kind.FLUSH)
    LLMCall.objects.create(
        tenant=ana.tenant, job=job.id, request_sha256="1", purpose="segment", model="a-model",
        ok=True, input_tokens=1200, output_tokens=34, cost=Decimal("0.0021"), latency_ms=800,
        finished_at=timezone.now(), response={"title": SCRIPT},
    )  # fmt: skip
    text = read(boss, job)
    for step in ("Queued", "Taken by a worker", "Done"):
        assert f"<strong>{step}</strong>" in text
    for episode in Episode.objects.of(ana.tenant):
        assert reverse("admin:episodic_episode_change", args=[episode.id]) in text
    changesets = Changeset.objects.of(ana.tenant).filter(job_id=job.id)
    assert changesets.exists()
    for changeset in changesets:
        assert reverse("admin:semantic_changeset_change", args=[changeset.id]) in text
    assert "1200" in text and "0.00210" in text and "800 ms" in text


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "Due"),
        ({"run_after": Now() + timedelta(hours=3), "error_class": "BudgetSpent"},
         "Today’s budget is spent"),
        ({"state": State.RUNNING, "attempts": 2, "started_at": Now()}, "run 2 began"),
        ({"state": State.DEAD, "error_class": "OddError"}, "it may quote people"),
    ],
)  # fmt: skip
def test_each_state_of_a_job_is_told_in_words(
    operator: Client, ana: Agent, given: dict[str, Any], says: str
) -> None:
    assert says in read(operator, make_job(ana, **given))


def test_a_silent_workers_job_is_told_as_such(operator: Client, ana: Agent) -> None:
    job = make_job(ana, state=State.RUNNING)
    Job.objects.of(ana.tenant).update(lease_until=Now() - timedelta(seconds=9))
    assert "any other worker may take it" in read(operator, job)
    shown = operator.get(reverse("admin:jobs_job_changelist")).content.decode()
    assert re.search(r"lease ended \d+ s ago", shown)
    assert "0 of 15" in shown


def test_an_operator_sees_of_a_job_nothing_that_was_remembered(
    operator: Client, ana: Agent, told: uuid.UUID
) -> None:
    text = read(operator, Job.objects.of(ana.tenant).get(kind=Kind.FLUSH))
    assert all(episode.title not in text for episode in Episode.objects.of(ana.tenant))
    assert "/episodic/" not in text and "/semantic/" not in text
    listed = operator.get(reverse("admin:jobs_job_changelist")).content.decode()
    assert "/episodic/" not in listed


def test_a_call_leads_to_its_job_and_what_came_of_it(
    boss: Client, ana: Agent, told: uuid.UUID
) -> None:
    job = Job.objects.of(ana.tenant).get(kind=Kind.FLUSH)
    call = LLMCall.objects.create(
        tenant=ana.tenant, job=job.id, request_sha256="1", purpose="consolidate", model="a-model",
        ok=False, error_class="ModelMisbehaved", input_tokens=7, finished_at=timezone.now(),
    )  # fmt: skip
    text = read(boss, call)
    assert reverse("admin:jobs_job_change", args=[job.id]) in text
    assert reverse("admin:episodic_conversation_change", args=[job.scope]) in text
    changeset = Changeset.objects.of(ana.tenant).filter(job_id=job.id).order_by("id")[0]
    assert reverse("admin:semantic_changeset_change", args=[changeset.id]) in text
    assert "ModelMisbehaved" in text and "no price" in text


def test_a_jobs_page_costs_the_same_however_many_calls_it_made(boss: Client, ana: Agent) -> None:
    job = make_job(ana, state=State.DONE, started_at=Now(), finished_at=Now())
    counts = []
    for number in range(12):
        LLMCall.objects.create(
            tenant=ana.tenant, job=job.id, request_sha256=f"{number}", purpose="p", model="m",
            ok=True,
        )  # fmt: skip
        if number in {1, 11}:
            with CaptureQueriesContext(connection) as asked:
                read(boss, job)
            counts.append(len(asked))
    assert counts[0] == counts[1] <= 25


# ---- keys


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
    ana.tenant.settings = {"fusion": {"k": 10}}
    ana.tenant.save()
    parked = make_job(ana, error_class="BudgetSpent", run_after=Now() + timedelta(hours=5))
    answer = set_budget(operator, ana.tenant, kind="own", amount="1")
    assert "1 job that waited" in answer.content.decode()
    assert ana.tenant.settings == {"fusion": {"k": 10}, spending.SETTING: "1"}
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


def test_the_services_behind_it_say_what_stands_in_the_way(ana: Agent) -> None:
    done = make_job(ana, state=State.DONE)
    acts: tuple[Callable[..., Job], ...] = (retry_job, cancel_job)
    for act in acts:
        with pytest.raises(Conflict):
            act(job=done)
