"""The page of a changeset: what ran, what it changed, what undid it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from console.facts.changes import render_changes
from console.facts.forms import CURATE
from console.jobs.page import find_calls, sum_up
from jobs.models import Job
from semantic import reverts
from semantic.models import Change, Changeset

CHANGES_A_PAGE = 100


def get_story(request: HttpRequest, changeset: Changeset) -> Mapping[str, Any]:
    """Return what stands above a changeset's columns."""
    sees = request.user.has_perm
    changes = Change.objects.of(changeset.tenant).filter(changeset=changeset)
    pages = Paginator(changes.order_by("position"), CHANGES_A_PAGE)
    page = pages.get_page(request.GET.get("changes"))
    job = find_job(changeset) if sees("jobs.view_job") else None
    calls = find_calls(job) if job is not None and sees("jobs.view_llmcall") else []
    reverted_by = reverts.find_revert(changeset)
    return {
        "page": page,
        "steps": render_changes(changeset.tenant, list(page.object_list)),
        "job": job,
        "calls": calls,
        "sums": sum_up(calls),
        "reverted_by": reverted_by,
        "may_revert": sees(CURATE) and reverted_by is None and changeset.conversation_id,
    }


def find_job(changeset: Changeset) -> Job | None:
    """Return the job that made a changeset; None: a person did."""
    if changeset.job_id is None:
        return None
    return Job.objects.of(changeset.tenant).filter(id=changeset.job_id).first()
