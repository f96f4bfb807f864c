"""Retrying and cancelling jobs, one by one or many, on record."""

import uuid
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.safestring import SafeString

from console.action_log import record
from console.jobs.page import OPERATE
from console.pages import act_on, action_for, get_row, show_page
from jobs import retrying
from jobs.models import Job, State
from memoryproject.adminkit.base import read_id
from memoryproject.adminkit.values import lines, link
from memoryproject.edge.errors import Problem

RETRIED_AT_ONCE = 500
NAMED_AT_MOST = 10


@action_for(OPERATE)
def retry_or_cancel(request: HttpRequest, job_id: uuid.UUID, name: str) -> HttpResponse:
    """Make a dead or cancelled job ready again, or cancel one that is ready."""
    job = get_row(Job, job_id)
    if name == "retry":
        done = "It is ready: the next free worker takes it."
        act, logged = retrying.retry_job, "retried it"
    else:
        done = "Cancelled. It can be retried."
        act, logged = retrying.cancel_job, "cancelled it"
    return act_on(request, job, lambda: act(job=job), done=done, logged=logged)


@admin.action(description="Retry dead and cancelled jobs …", permissions=["operate"])
def retry_selected(_: Any, request: HttpRequest, queryset: QuerySet[Job]) -> HttpResponse:
    """Show what a retry of the marked jobs would do; nothing is done yet."""
    stopped = queryset.filter(state__in=[State.DEAD, State.CANCELLED])
    jobs = list(stopped.select_related("tenant").order_by("-id")[: RETRIED_AT_ONCE + 1])
    marked = queryset.order_by()[: RETRIED_AT_ONCE + 1].count()
    return show_page(
        request,
        "console/jobs/retry.html",
        title="Retry jobs",
        chosen=jobs[:RETRIED_AT_ONCE],
        left_out=marked - len(jobs),
        cut=len(jobs) > RETRIED_AT_ONCE,
        at_once=RETRIED_AT_ONCE,
    )


@action_for(OPERATE)
def retry_jobs(request: HttpRequest) -> HttpResponse:
    """Retry the jobs that the preview showed, each by itself; say which could not be."""
    ids = filter(None, map(read_id, request.POST.getlist("job")[:RETRIED_AT_ONCE]))
    jobs = Job.across_tenants.select_related("tenant").filter(id__in=list(ids))
    retried, refused = 0, []
    for job in jobs.order_by("id"):
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
    if not retried and not refused:
        messages.warning(request, "No job was chosen.")
    return redirect("admin:jobs_job_changelist")


def name_refused(refused: list[tuple[Job, str]]) -> SafeString:
    """Return in words which jobs were left as they are, and why."""
    named = [link(job, f"{job.get_kind_display()}: {why}") for job, why in refused[:NAMED_AT_MOST]]
    return lines([f"{len(refused)} left as they are:", *named])
