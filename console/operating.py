"""What operators do to jobs: try again what died, give up what waits. All of it is on record."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from console.jobs_page import OPERATE
from console.pages import page_for, show_page
from console.records import record
from jobs import retrying
from jobs.models import Job, State
from memoryproject.admin_base import read_id
from memoryproject.admin_values import lines, link
from memoryproject.errors import Problem

RETRIED_AT_ONCE = 500
NAMED_AT_MOST = 10


@page_for(OPERATE)
@require_POST
def retry_job(request: HttpRequest, job_id: uuid.UUID) -> HttpResponse:
    """Make a dead or cancelled job ready again."""
    job = find_job(job_id)
    try:
        retry_on_record(request, job)
    except Problem as problem:
        messages.error(request, problem.message)
    else:
        messages.success(request, "It is ready: the next free worker takes it.")
    return redirect("admin:jobs_job_change", job.pk)


@page_for(OPERATE)
@require_POST
def cancel_job(request: HttpRequest, job_id: uuid.UUID) -> HttpResponse:
    """Give a job up that waits."""
    job = find_job(job_id)
    try:
        with transaction.atomic():
            retrying.cancel_job(job=job)
            record(request, job, "cancelled it")
    except Problem as problem:
        messages.error(request, problem.message)
    else:
        messages.success(request, "Cancelled. It can be retried.")
    return redirect("admin:jobs_job_change", job.pk)


def find_job(job_id: uuid.UUID) -> Job:
    """Return the job of any tenant.

    Raises:
        Http404: there is none.
    """
    return get_object_or_404(Job.across_tenants.select_related("tenant"), id=job_id)


def retry_on_record(request: HttpRequest, job: Job) -> None:
    """Make a job ready again and record it, both or neither.

    Raises:
        Problem: it cannot be retried.
    """
    with transaction.atomic():
        retrying.retry_job(job=job)
        record(request, job, "retried it")


@admin.action(description="Retry dead and cancelled jobs …", permissions=["operate"])
def retry_selected(_: Any, request: HttpRequest, queryset: QuerySet[Job]) -> HttpResponse:
    """Show what a retry of the marked jobs would do; nothing is done yet."""
    stopped = queryset.filter(state__in=[State.DEAD, State.CANCELLED])
    found = list(stopped.select_related("tenant").order_by("-id")[: RETRIED_AT_ONCE + 1])
    marked = queryset.order_by()[: RETRIED_AT_ONCE + 1].count()
    return show_page(
        request,
        "console/jobs_retry.html",
        title="Retry jobs",
        chosen=found[:RETRIED_AT_ONCE],
        left_out=marked - len(found),
        cut=len(found) > RETRIED_AT_ONCE,
        at_once=RETRIED_AT_ONCE,
    )


@page_for(OPERATE)
@require_POST
def retry_jobs(request: HttpRequest) -> HttpResponse:
    """Retry the jobs that the preview showed, each by itself; say which could not be."""
    ids = [read_id(text) for text in request.POST.getlist("job")[:RETRIED_AT_ONCE]]
    jobs = Job.across_tenants.select_related("tenant").filter(id__in=[one for one in ids if one])
    retried, refused = 0, []
    for job in jobs.order_by("id"):
        try:
            retry_on_record(request, job)
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
