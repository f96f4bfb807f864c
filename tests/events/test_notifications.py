"""People are told of what they can mend, in the admin and by mail: kinds, counts and links."""

from __future__ import annotations

import re
import socket
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope
from django.contrib.auth.models import Group, User
from django.db.models import F
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs import claims
from jobs.draining import drain_jobs
from jobs.enqueue import enqueue
from jobs.models import Job, Kind, LLMCall, State
from jobs.reconciler import reconcile
from jobs.tasks import run_job
from memoryproject.tenancy.models import Membership, Tenant
from semantic.curation import Act, invalidate_facts
from semantic.models import Fact
from tests.conftest import Agent
from wings.events.models import Event, MailChoice, Notification
from wings.events.outbox import NewEvent, announce
from wings.events.types import FACT_RETIRED

pytestmark = pytest.mark.django_db


@dataclass
class MailServer:
    """A mail server on loopback, which keeps what it takes, and answers as it is told."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    """To the next recipients; then all are taken."""

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Envelope, address: str, options: Any
    ) -> str:
        if self.answers and self.answers[0] != "lost":
            return self.answers.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))  # type: ignore[arg-type]
        return "451 Lost." if self.answers and self.answers.pop(0) else "250 OK"


@pytest.fixture
def mail_server(settings: Any) -> Iterator[MailServer]:
    server = MailServer()
    with socket.create_server(("127.0.0.1", 0)) as free:
        server.port = free.getsockname()[1]
    controller = Controller(server, hostname="127.0.0.1", port=server.port)
    controller.start()
    settings.EMAIL_BACKEND = "wings.events.smtp.Backend"
    settings.EMAIL_HOST, settings.EMAIL_USE_TLS = "127.0.0.1", False
    settings.EMAIL_PORT = server.port
    settings.PUBLIC_URL = "https://memory.example.org"
    yield server
    controller.stop()


def hire(name: str, role: str, tenant: Tenant | None = None, when: str = "at_once") -> Client:
    """Return the browser of somebody with a role in all tenants or in one."""
    person = User.objects.create_user(name, email=f"{name}@example.org", is_staff=True)
    group = Group.objects.get(name=role)
    if tenant is None:
        person.groups.add(group)
    else:
        Membership.objects.create(tenant=tenant, person=person, role=group)
    MailChoice.objects.create(person=person, when=when)
    browser = Client(SERVER_NAME="localhost")
    browser.force_login(person)
    return browser


def let_a_job_die(tenant: Tenant) -> Job:
    job = enqueue(tenant=tenant, kind=Kind.SEGMENT, scope=uuid.uuid4())  # of no conversation
    for _ in range(claims.HALVING_ATTEMPTS):
        Job.objects.of(tenant).filter(id=job.id).update(run_after=Now())
        assert run_job(str(job.id))
    job.refresh_from_db()
    assert job.state == State.DEAD
    return job


def told(name: str) -> list[str]:
    rows = Notification.across_tenants.filter(person__username=name)
    return list(rows.order_by("id").values_list("type", flat=True))


def test_roles_and_memberships_decide_who_is_told_of_a_dead_job(ana: Agent, cleo: Agent) -> None:
    browser = hire("olga", "operator", ana.tenant)
    for name, role, tenant in (
        ("oskar", "operator", None),
        ("otto", "operator", cleo.tenant),
        ("cora", "curator", None),
    ):
        hire(name, role, tenant)
    job = let_a_job_die(ana.tenant)
    reconcile()
    reconcile()
    assert [told(name) for name in ("olga", "oskar")] == [["job.dead"]] * 2
    assert [told(name) for name in ("otto", "cora")] == [[], []]
    page = browser.get(reverse("console:notifications"))
    assert "Notifications, 1 new" in page.content.decode()
    (row,) = page.context["entries"]
    assert page.context["groups"][0][0] == "A job is dead" and str(job.id) in row.address
    assert browser.get(row.address).status_code == 200
    browser.post(reverse("console:notifications"), {"newest": row.id})
    assert "Notifications, " not in browser.get(row.address).content.decode()
    Membership.objects.of(ana.tenant).all().delete()
    assert browser.get(reverse("console:notifications")).context["entries"] == []


def test_a_fact_taken_back_after_it_was_served_and_a_test_that_fails_are_told(
    ana: Agent, told: uuid.UUID
) -> None:
    hire("cora", "curator")
    hire("arno", "auditor")
    asked = {"conversation_id": str(told), "query": "Where?"}
    fact = ana.post("retrieve_memory/raw", asked).json()["semantic"][0]["id"]
    words = Fact.objects.of(ana.tenant).get(id=fact).fact
    test = {"conversation_id": str(told), "query": words, "must_say": [words]}
    assert ana.post("memory_tests", {**test, "must_not_say": ["declared wrong"]}).json()["passes"]
    ana.post(f"facts/{fact}/invalidate", {"because": "wrong", "reason": "It is."})
    drain_jobs()
    reconcile()
    cora = Notification.across_tenants.filter(person__username="cora")
    assert set(cora.values_list("type", flat=True)) == {"fact.corrected", "test.failed"}
    arno = Notification.across_tenants.get(person__username="arno")
    assert (arno.type, arno.count) == ("fact.corrected", 1)


def test_what_one_did_oneself_is_not_told_and_the_rest_is_told_by_kind(
    ana: Agent, told: uuid.UUID
) -> None:
    cora, curt = hire("cora", "curator"), hire("curt", "curator")
    asked = {"conversation_id": str(told), "query": "Where?"}
    served = ana.post("retrieve_memory/raw", asked).json()["semantic"][:2]
    for fact_id in [fact["id"] for fact in served]:
        act = Act(tenant=ana.tenant, actor="cora", reason="A mistake.")
        invalidate_facts(act=act, fact_ids=[uuid.UUID(fact_id)], because=Fact.Because.WRONG)
    reconcile()
    assert len(served) == 2
    assert cora.get(reverse("console:notifications")).context["groups"] == []
    ((words, _, tenant, rows),) = curt.get(reverse("console:notifications")).context["groups"]
    assert words == "A fact was retired after it was served (×2)"
    assert tenant == ana.tenant and len(rows) == 2


def test_a_burst_of_retired_facts_is_told_once(ana: Agent) -> None:
    hire("cora", "curator")
    data = {"changeset_id": str(uuid.uuid4())}
    for many in (30, 30, 60):
        events = [NewEvent(FACT_RETIRED, data)] * many
        announce(events, tenant=ana.tenant, scope=ana.tenant.id)
        reconcile()
    (row,) = Notification.across_tenants.filter(person__username="cora")
    assert (row.type, row.count) == ("fact.retired", 60)


def test_a_budget_is_told_of_at_80_percent_once_a_day(
    ana: Agent, cleo: Agent, settings: Any
) -> None:
    settings.LLM = "openai"
    hire("olga", "operator")
    ana.tenant.change_setting("daily_budget", "1.00")
    for cost in ("0.79", "0.02", "0.02"):
        for tenant in (ana.tenant, cleo.tenant):
            LLMCall.objects.create(
                tenant=tenant, request_sha256=cost, purpose="a test", model="gpt-4o-mini",
                ok=False, cost=Decimal(cost),
            )  # fmt: skip
        reconcile()
        assert told("olga") == ([] if cost == "0.79" else ["budget.near"])
        reconcile()
    row = Notification.across_tenants.get()
    assert (row.tenant, row.subject) == (ana.tenant, ana.tenant.id)


def test_mail_holds_kinds_counts_and_links_and_is_sent_once(
    ana: Agent, cleo: Agent, mail_server: MailServer
) -> None:
    hire("olga", "operator", ana.tenant)
    hire("otto", "operator", cleo.tenant)
    jobs = [let_a_job_die(ana.tenant) for _ in range(2)]
    for _ in range(3):
        reconcile()
        drain_jobs()
    (mail,) = mail_server.mails
    text = mail.get_content()
    assert mail["To"] == "olga@example.org" and mail["Subject"].startswith("ana's: A job is dead")
    assert "A job is dead (×2)" in text
    for job in jobs:
        assert f"https://memory.example.org/admin/jobs/job/{job.id}/change/?tenant=ana" in text


def test_what_the_mail_server_did_not_take_is_sent_later_under_the_same_id(
    ana: Agent, mail_server: MailServer
) -> None:
    mail_server.answers = ["450 Later.", "lost"]
    hire("olga", "operator")
    let_a_job_die(ana.tenant)
    reconcile()
    for taken in (0, 1, 2):
        Job.objects.of(ana.tenant).filter(kind=Kind.MAIL).update(run_after=F("created_at"))
        drain_jobs()
        assert len(mail_server.mails) == taken
    ids = {re.sub(r"\s", "", mail["Message-ID"]) for mail in mail_server.mails}
    assert len(ids) == 1 and Notification.across_tenants.get().mailed_at


def test_a_mail_server_that_is_away_costs_no_attempt(ana: Agent, settings: Any) -> None:
    settings.EMAIL_BACKEND = "wings.events.smtp.Backend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", 1, False
    hire("olga", "operator")
    let_a_job_die(ana.tenant)
    reconcile()
    drain_jobs()
    job = Job.objects.of(ana.tenant).get(kind=Kind.MAIL)
    assert (job.state, job.error_class, job.attempts) == (State.READY, "MailServerAway", 0)


def test_an_address_that_is_refused_is_put_down_and_holds_up_nobody(
    ana: Agent, mail_server: MailServer
) -> None:
    mail_server.answers = ["550 No such person.", "452 Full."]
    browser = hire("olga", "operator")
    hire("otto", "operator")
    hire("oskar", "operator")
    let_a_job_die(ana.tenant)
    reconcile()
    drain_jobs()
    assert [mail["To"] for mail in mail_server.mails] == ["oskar@example.org"]
    page = browser.get(reverse("console:notification_choice")).content.decode()
    assert "refused your address" in page


def test_a_person_chooses_when_mail_comes(ana: Agent, mail_server: MailServer) -> None:
    browser = hire("olga", "operator", when="daily")
    hire("oskar", "operator", when="never")
    let_a_job_die(ana.tenant)
    reconcile()
    drain_jobs()
    assert mail_server.mails == []
    Notification.across_tenants.update(created_at=timezone.now() - timedelta(days=1))
    reconcile()
    drain_jobs()
    assert [mail["To"] for mail in mail_server.mails] == ["olga@example.org"]
    choice = reverse("console:notification_choice")
    assert browser.post(choice, {"when": "hourly"}).status_code == 400
    assert browser.post(choice, {"when": "at_once"}).status_code == 302
    assert MailChoice.objects.get(person__username="olga").when == "at_once"


def test_who_has_lost_the_role_gets_no_mail(ana: Agent, mail_server: MailServer) -> None:
    hire("olga", "operator", ana.tenant)
    let_a_job_die(ana.tenant)
    reconcile()
    Membership.objects.of(ana.tenant).all().delete()
    drain_jobs()
    assert mail_server.mails == [] and told("olga") == ["job.dead"]


def test_events_of_people_are_no_deliveries(ana: Agent) -> None:
    """An operator cannot have them delivered anywhere."""
    let_a_job_die(ana.tenant)
    event = Event.objects.of(ana.tenant).get(webhook=None)
    browser = hire("olga", "operator")
    sent = {"action": "redeliver_selected", "_selected_action": [str(event.id)]}
    browser.post(reverse("admin:events_event_changelist"), sent)
    assert not Job.objects.of(ana.tenant).filter(kind=Kind.DELIVER).exists()
