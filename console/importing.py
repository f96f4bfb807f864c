"""The pages of an import: upload, look, decide, and watch it being written."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from console import import_runs
from console.models import ImportBatch, ImportRun
from console.pages import choose_tenant, page_for, show_page
from memoryproject.admin_base import read_id
from memoryproject.errors import Problem
from memoryproject.tenancy.models import Tenant
from semantic.curation import REASON_AT_MOST

PERMISSION = "semantic.curate_fact"
RUNS_SHOWN = 20
SAMPLE = 20
CHANGESETS_SHOWN = 200


@page_for(PERMISSION)
def show_imports(request: HttpRequest) -> HttpResponse:
    """Show the form for a file and the last imports; take a file in and look through it."""
    tenant = choose_tenant(request)
    fault = ""
    if request.method == "POST" and tenant is not None:
        try:
            run = _take_file(request, tenant)
        except Problem as problem:
            fault = problem.message
        else:
            return redirect("console:import_run", run_id=run.id)
    runs = ImportRun.objects.of(tenant).order_by("-id")[:RUNS_SHOWN] if tenant else []
    return show_page(
        request,
        "console/import.html",
        title="Import facts",
        status=400 if fault else 200,
        fault=fault,
        tenant=tenant,
        tenants=Tenant.objects.order_by("name")[:500],
        runs=runs,
        conversation=request.POST.get("conversation_id", ""),
        megabytes=import_runs.BYTES_AT_MOST // 1024**2,
        rows_at_most=f"{import_runs.ROWS_AT_MOST:,}",
    )


def _take_file(request: HttpRequest, tenant: Tenant) -> ImportRun:
    """Look through the file of a request.

    Raises:
        Problem: there is none, or it holds no facts.
    """
    upload = request.FILES.get("file")
    if not isinstance(upload, UploadedFile) or upload.file is None:
        raise Problem("Choose a file.")
    if (upload.size or 0) > import_runs.BYTES_AT_MOST:
        megabytes = import_runs.BYTES_AT_MOST // 1024**2
        raise Problem(f"The file is over {megabytes} MB. Split it.")
    named = request.POST.get("conversation_id", "").strip()
    conversation = read_id(named)
    if named and conversation is None:
        raise Problem("The conversation must be given by its UUID.")
    return import_runs.start_run(
        tenant=tenant,
        person=request.user.get_username(),
        name=upload.name or "",
        file=upload.file,
        conversation=conversation,
    )


@page_for(PERMISSION)
def show_run(request: HttpRequest, run_id: uuid.UUID, fault: str = "") -> HttpResponse:
    """Show what an import would do, does, or has done."""
    run = _find_run(run_id)
    batch = ImportBatch.objects.of(run.tenant).filter(run=run, done_at=None)
    first = batch.order_by("position").first()
    return show_page(
        request,
        "console/import_run.html",
        title=f"Import of {run.file_name}",
        status=400 if fault else 200,
        run=run,
        tenant=run.tenant,
        fault=fault,
        sample=first.rows[:SAMPLE] if first and run.state == ImportRun.State.PREVIEW else [],
        left_out=_list_left_out(run),
        changesets=import_runs.list_changesets(run, at_most=CHANGESETS_SHOWN),
        changesets_shown=CHANGESETS_SHOWN,
        reason_at_most=REASON_AT_MOST,
        reason=request.POST.get("reason", ""),
        percent=100 * run.done // run.total if run.total else 100,
    )


def _find_run(run_id: uuid.UUID) -> ImportRun:
    run = ImportRun.across_tenants.select_related("tenant").filter(id=run_id).first()
    if run is None:
        raise Http404
    return run


def _list_left_out(run: ImportRun) -> list[tuple[int, str]]:
    """Return how many rows are left out, by reason."""
    reasons = {
        "held": "are held already",
        "twice": "stand in the file twice",
        "closed": "are closed or over",
        "wrong": "were declared wrong by a curator: restore those facts instead",
        "faulty": "have faults",
    }
    return [(run.counts[name], said) for name, said in reasons.items() if run.counts.get(name)]


@page_for(PERMISSION)
@require_POST
def decide_run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponseBase:
    """Import what was looked through, with a reason, or throw it away."""
    run = _find_run(run_id)
    try:
        if "discard" in request.POST:
            import_runs.discard_run(run)
            messages.success(request, "Thrown away. No fact was written.")
            return redirect("console:import")
        import_runs.confirm_run(run, reason=request.POST.get("reason", ""))
    except Problem as problem:
        return show_run(request, run_id, fault=problem.message)
    return redirect("console:import_run", run_id=run.id)


@page_for(PERMISSION)
@require_POST
def take_step(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Write one batch; answer a script with how far it is, a form with the page."""
    run = import_runs.take_step(_find_run(run_id))
    if request.headers.get("Accept") != "application/json":
        return redirect("console:import_run", run_id=run.id)
    progress: dict[str, Any] = {"done": run.done, "total": run.total, "state": run.state}
    return JsonResponse(progress)
