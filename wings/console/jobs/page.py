"""Pages of a job and of a model call: retry, cancel, deliver again, on record."""

import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.safestring import SafeString

from episodic.models import Episode, Message, Review
from jobs import claims, retrying
from jobs.models import Job, Kind, LLMCall, State
from memoryproject.adminkit import values
from memoryproject.adminkit.values import lines, link
from memoryproject.edge.errors import Problem
from retrieval.models import Retrieval
from semantic.models import Changeset
from wings.console.jobs.admin import conversation_of, outcome_of, tokens_of
from wings.console.pages import act_on, action_for, get_row, list_records, record
from wings.console.texts import TEXTS
from wings.events import outbox
from wings.events.models import Event

ROWS_AT_MOST = 50
OPERATE = "jobs.operate_job"
ACTS_AT_ONCE = 500
"""Number of jobs, or events, of one action on a list."""
NAMED_AT_MOST = 10
ACTS = {
    "retry": (retrying.retry_job, "retried it", "It is ready: the next free worker takes it."),
    "cancel": (retrying.cancel_job, "cancelled it", "Cancelled. It can be retried."),
}
"""By action: the function, the text for the record, and the message to the person."""
Step = tuple[str, datetime | None, str, str]
"""Title, time, note and tone of a step: good, bad, warn, now, or nothing."""


def get_job_story(request: HttpRequest, job: Job) -> dict[str, Any]:
    now = timezone.now()
    calls = find_calls(job) if request.user.has_perm("jobs.view_llmcall") else []
    return {
        "steps": list(with_gaps(path_of(job, now))),
        "tries": f"{job.attempts} of {claims.attempts_at_most(job.kind)}",
        "explained": TEXTS["failures"].get(job.error_class, ""),
        "made": list_results(request, job),
        "calls": calls,
        "calls_cut": len(calls) == ROWS_AT_MOST,
        "calls_list": values.list_address(LLMCall, job=job.id),
        "sums": sum_up(calls),
        "if_cancelled": TEXTS["if_cancelled"][job.kind],
        "records": list_records(Job, job.id),
        "conversation_id": conversation_of(job),
    }


def path_of(job: Job, now: datetime) -> list[Step]:
    """Return the steps of a job so far, and the next one if it is not finished."""
    steps: list[Step] = [("Queued", job.created_at, "", "")]
    if job.started_at:
        runs = "its only run" if job.attempts <= 1 else f"run {job.attempts} began"
        steps.append(("Taken by a worker", job.started_at, runs, ""))
    if job.error_class and job.state != State.DONE:
        steps.append((f"Failed: {job.error_class}", None, "", "bad"))
    return [*steps, _present(job, now)]


def _present(job: Job, now: datetime) -> Step:
    if job.state == State.READY:
        if job.run_after > now:
            return ("Scheduled", job.run_after, "not before this", "now")
        return ("Due", job.run_after, "the next free worker takes it", "now")
    if job.state == State.RUNNING:
        until = job.lease_until or now
        if until > now:
            return ("Runs", until, "lease until then, renewed while it runs", "now")
        return ("Lease expired", until, "any other worker may take it", "warn")
    if job.state == State.DONE:
        numbers = (f"{count} {name.replace('_', ' ')}" for name, count in job.result.items())
        return ("Done", job.finished_at, ", ".join(numbers), "good")
    if job.state == State.DEAD:
        return ("Died", job.finished_at, "it is not retried by itself", "bad")
    return ("Cancelled", job.finished_at, "by a person", "warn")


def with_gaps(steps: list[Step]) -> Iterator[dict[str, Any]]:
    """Yield the steps, each with the time since the previous one that has a time."""
    before: datetime | None = None
    for title, at, note, tone in steps:
        gap = values.duration(at - before) if at and before and at >= before else ""
        yield {"title": title, "at": at, "note": note, "tone": tone, "gap": gap}
        before = at or before


def find_calls(job: Job) -> list[LLMCall]:
    """Return the model calls of a job, oldest first, without the answers.

    Uses index: jobs_llmcall_by_job.
    """
    calls = LLMCall.objects.of(job.tenant).filter(job=job.id).defer("response")
    return list(calls.order_by("id")[:ROWS_AT_MOST])


def sum_up(calls: Sequence[LLMCall]) -> dict[str, Any]:
    """Return tokens, cost and latency of calls together; cost without calls of unknown price."""
    latency_ms = sum(call.latency_ms for call in calls)
    return {
        "tokens_in": sum(call.input_tokens for call in calls),
        "tokens_out": sum(call.output_tokens for call in calls),
        "cost": sum((call.cost or Decimal(0) for call in calls), Decimal(0)),
        "latency": values.duration(timedelta(milliseconds=latency_ms)),
    }


def list_results(request: HttpRequest, job: Job) -> dict[str, list[Any]]:
    """Return the rows that a job created, by kind, as far as the person may see them."""
    tenant = job.tenant
    reviews = Review.objects.of(tenant).filter(job=job.id).select_related("episode")
    reviewed = Retrieval.objects.of(tenant).filter(review_job=job.id)
    quarantined = Message.objects.of(tenant).filter(quarantined_by=job.id)
    columns = ("tenant", "episode", "seq", "role", "occurred_at")
    kinds: tuple[tuple[str, str, QuerySet[Any]], ...] = (
        ("semantic.view_changeset", "changesets", _changesets_of(job)),
        ("episodic.view_episode", "episodes", _episodes_of(job)),
        ("episodic.view_review", "reviews", reviews.order_by("id")),
        ("retrieval.view_retrieval", "reviewed", reviewed.order_by("id")),
        ("episodic.view_message", "quarantined", quarantined.order_by("seq").only(*columns)),
    )
    sees, seen = request.user.has_perm, request.reader.rows  # type: ignore[attr-defined]
    return {name: list(seen(rows)[:ROWS_AT_MOST]) for needed, name, rows in kinds if sees(needed)}


def _changesets_of(job: Job) -> QuerySet[Changeset]:
    # By conversation first: changesets have no index by job.
    rows = Changeset.objects.of(job.tenant).filter(conversation=conversation_of(job), job_id=job.id)
    return rows.order_by("id")


def _episodes_of(job: Job) -> QuerySet[Episode]:
    """Return the episodes created during its last run: they do not name their job."""
    episodes = Episode.objects.of(job.tenant).filter(conversation=job.scope)
    if job.started_at is None or job.kind not in {Kind.SEGMENT, Kind.FLUSH}:
        return episodes.none()
    came = episodes.filter(created_at__gte=job.started_at)
    if job.finished_at:
        came = came.filter(created_at__lte=job.finished_at)
    return came.order_by("created_at", "first_seq")


def get_call_story(request: HttpRequest, call: LLMCall) -> dict[str, Any]:
    job = Job.objects.of(call.tenant).filter(id=call.job).first() if call.job else None
    tone, outcome = outcome_of(call)
    sees_changes = request.user.has_perm("semantic.view_changeset")
    return {
        "outcome": outcome,
        "tone": {"answered": "good", "failed": "bad", "runs": "warn"}[tone],
        "tokens": tokens_of(call),
        "job": job,
        "job_link": values.link(job, job.get_kind_display()) if job else "",
        "conversation_id": conversation_of(job) if job else None,
        "made": {"changesets": _changesets_of(job)[:ROWS_AT_MOST]} if job and sees_changes else {},
    }


@action_for(OPERATE)
def retry_or_cancel(request: HttpRequest, job_id: uuid.UUID, name: str) -> HttpResponse:
    job = get_row(Job, job_id)
    act, logged, done = ACTS[name]
    return act_on(request, job, lambda: act(job=job), done=done, logged=logged)


@admin.action(description="Retry dead and cancelled jobs", permissions=["operate"])
def retry_selected(_: Any, request: HttpRequest, queryset: QuerySet[Job]) -> None:
    """Retry the first of the selected jobs one by one; report those that were refused."""
    retried, refused = 0, []
    for job in queryset.select_related("tenant").order_by("id")[:ACTS_AT_ONCE]:
        try:
            with transaction.atomic():
                retrying.retry_job(job=job)
                record(request, job, "retried it")
            retried += 1
        except Problem as problem:
            refused.append((job, problem.message))
    if retried:
        messages.success(request, f"{retried} job{'s' * (retried != 1)} ready again.")
    if refused:
        messages.warning(request, name_refused(refused))


@admin.action(description="Deliver again", permissions=["redeliver"])
def redeliver_selected(_: Any, request: HttpRequest, queryset: QuerySet[Event]) -> None:
    """Deliver the selected events again, oldest first."""
    to_webhooks = queryset.exclude(webhook=None)
    events = list(to_webhooks.select_related("tenant").order_by("id")[:ACTS_AT_ONCE])
    with transaction.atomic():
        for event in events:
            outbox.redeliver(event)
            record(request, event, "had it delivered again")
    messages.success(request, f"{len(events)} event{'s' * (len(events) != 1)} wait for delivery.")


def name_refused(refused: list[tuple[Job, str]]) -> SafeString:
    named = [link(job, f"{job.get_kind_display()}: {why}") for job, why in refused[:NAMED_AT_MOST]]
    return lines([f"{len(refused)} left as they are:", *named])
