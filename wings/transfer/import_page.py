"""The pages of imports: upload a file, preview, confirm or cancel, and progress."""

import uuid
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.shortcuts import redirect

from memoryproject.adminkit.base import read_id
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant
from semantic.curation import REASON_AT_MOST
from wings.console.forms import read_choice_id
from wings.console.models import ImportBatch, ImportRun
from wings.console.pages import Answer, action_for, admin_page, get_row
from wings.transfer import imports, peer_runs

PERMISSION = "semantic.curate_fact"
SOURCES = {
    "chatgpt": "ChatGPT", "claude": "Claude", "mem0": "Mem0", "zep": "Zep or Graphiti",
    "letta": "Letta", "langmem": "LangMem",
}  # fmt: skip
"""Systems whose exports are taken, with their names."""
RUNS_SHOWN = 20
SAMPLE = 20
CHANGESETS_SHOWN = 200


@admin_page("console/transfer/import.html", "Import", PERMISSION, of_one_tenant=True)
def show_imports(request: HttpRequest, tenant: Tenant) -> Answer:
    """Show the form for a file and the last imports; validate a file and go to its preview."""
    fault = ""
    if request.method == "POST":
        try:
            return redirect("console:import_run", run_id=_take_file(request, tenant).id)
        except Problem as problem:
            fault = problem.message
    return {
        "fault": fault,
        "tenant": tenant,
        "runs": ImportRun.objects.of(tenant).order_by("-id")[:RUNS_SHOWN],
        "sources": SOURCES,
        "typed": {
            name: request.POST.get(name, "") for name in ("source", "user", "conversation_id")
        },
        "megabytes": settings.MAX_UPLOAD_BYTES // 1024**2,
        "rows_at_most": f"{settings.IMPORT_ROWS_AT_MOST:,}",
    }


def _take_file(request: HttpRequest, tenant: Tenant) -> ImportRun:
    upload = request.FILES.get("file")
    if not isinstance(upload, UploadedFile) or upload.file is None:
        raise Problem("Choose a file.")
    if (upload.size or 0) > settings.MAX_UPLOAD_BYTES:
        megabytes = settings.MAX_UPLOAD_BYTES // 1024**2
        raise Problem(f"The file is over {megabytes} MB. Split it.")
    name, source = upload.name or "", request.POST.get("source", "")
    whose: dict[str, Any] = {"tenant": tenant, "person": request.user.get_username()}
    if source:
        return _take_export(upload, source, request.POST.get("user", "").strip(), **whose)
    conversation_id = read_choice_id(request.POST.get("conversation_id", ""))
    conversation = read_id(conversation_id)
    if conversation_id and conversation is None:
        raise Problem("Choose a conversation of the list, or give its whole id.")
    return imports.start_run(name=name, file=upload.file, conversation=conversation, **whose)


def _take_export(upload: Any, source: str, user_id: str, **whose: Any) -> ImportRun:
    """Store a preview of another system's export, read from a copy that is gone then."""
    if source not in SOURCES:
        raise Problem("There is no such source.")
    name = (upload.name or "")[:200].replace("\x00", "")
    with NamedTemporaryFile(suffix=".jsonl" if name.endswith(".jsonl") else "") as copy:
        for chunk in upload.chunks():
            copy.write(chunk)
        copy.flush()
        path = Path(copy.name)
        return peer_runs.start_run(name=name, path=path, source=source, user_id=user_id, **whose)


@admin_page("console/transfer/import_run.html", "Import", PERMISSION)
def show_run(request: HttpRequest, run_id: uuid.UUID, fault: str = "") -> Answer:
    run = get_row(ImportRun, run_id)
    batch = ImportBatch.objects.of(run.tenant).filter(run=run, done_at=None)
    first = batch.order_by("position").first()
    return {
        "title": f"Import of {run.file_name}",
        "run": run,
        "tenant": run.tenant,
        "fault": fault,
        "sample": first.rows[:SAMPLE] if first and run.state == ImportRun.State.PREVIEW else [],
        "changesets": imports.list_changesets(run, at_most=CHANGESETS_SHOWN),
        "changesets_shown": CHANGESETS_SHOWN,
        "reason_at_most": REASON_AT_MOST,
        "reason": request.POST.get("reason", ""),
    }


@action_for(PERMISSION)
def decide_run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponseBase:
    run = get_row(ImportRun, run_id)
    try:
        if "discard" in request.POST:
            imports.discard_run(run)
            messages.success(request, "Cancelled. No fact was written.")
            return redirect("console:import")
        imports.confirm_run(run, reason=request.POST.get("reason", ""))
    except Problem as problem:
        return show_run(request, run_id, fault=problem.message)
    return redirect("console:import_run", run_id=run.id)


@action_for(PERMISSION)
def take_step(request: HttpRequest, run_id: uuid.UUID) -> HttpResponseBase:
    """Write one batch; answer a script with how far it is, a form with the page."""
    is_script = request.headers.get("Accept") == "application/json"
    try:
        run = imports.take_step(get_row(ImportRun, run_id))
    except Problem as problem:  # a quota, or a conversation that is another user's
        if is_script:
            return JsonResponse({"fault": problem.message}, status=400)
        return show_run(request, run_id, fault=problem.message)
    if not is_script:
        return redirect("console:import_run", run_id=run.id)
    return JsonResponse({"done": run.done, "total": run.total, "state": run.state})
