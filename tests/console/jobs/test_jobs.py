"""Operators retry and cancel jobs, and see what became of them: all of it on record."""

from __future__ import annotations

import html
import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from episodic.models import Episode, Message
from jobs import claims
from jobs.draining import drain_jobs
from jobs.models import Job, Kind, LLMCall, State
from jobs.reconciler import reconcile
from jobs.retrying import cancel_job, retry_job
from memoryproject.edge.errors import Conflict
from semantic.models import Changeset
from tests.conftest import Agent
from tests.console.operators import SCRIPT, make_job, post, read, records_of
from tests.talk import whole_talk
from wings.console.texts import TEXTS

pytestmark = pytest.mark.django_db


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


def test_the_services_behind_it_say_what_stands_in_the_way(ana: Agent) -> None:
    done = make_job(ana, state=State.DONE)
    acts: tuple[Callable[..., Job], ...] = (retry_job, cancel_job)
    for act in acts:
        with pytest.raises(Conflict):
            act(job=done)
