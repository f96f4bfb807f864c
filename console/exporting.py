"""The page of exports: choose, see how much it is, and download. Each one is on record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from console import exports, sheets
from console.export_tables import EXPORTS, FACTS, Export
from console.exports import Narrowing, Size
from console.models import ExportRun
from console.pages import choose_tenant, page_for, show_page
from memoryproject.errors import Problem
from memoryproject.tenancy.models import Tenant

PERMISSION = "semantic.view_fact"
LATEST = 20
FIELDS = ("table", "conversation_id", "state", "since", "until")
TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson; charset=utf-8"}


@page_for(PERMISSION)
def show_exports(request: HttpRequest) -> HttpResponse:
    """Show what can be chosen and, of what is chosen, how many rows there are."""
    return _show(request, request.GET)


@page_for(PERMISSION)
@require_POST
def download(request: HttpRequest) -> HttpResponseBase:
    """Send the rows as a file, as they come from the database, and put it on record."""
    given = request.POST
    export, tenant = _choose(request, given), choose_tenant(request)
    form = given.get("format", "")
    try:
        narrowing = exports.read_narrowing(export, given)
    except Problem:
        return _show(request, given)
    if tenant is None or form not in sheets.FORMATS:
        return _show(request, given)
    run = exports.start_export(
        export=export,
        tenant=tenant,
        narrowing=narrowing,
        form=form,
        person=request.user.get_username(),
    )
    day = timezone.now().strftime("%Y-%m-%d")
    return StreamingHttpResponse(
        exports.stream(export, run, narrowing),
        content_type=TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="{export.name}-{day}.{form}"'},
    )


def _choose(request: HttpRequest, given: Mapping[str, str]) -> Export:
    """Return what is to be exported.

    Raises:
        PermissionDenied: not by this person.
    """
    export = EXPORTS.get(given.get("table", ""), FACTS)
    if not request.user.has_perm(export.permission):
        raise PermissionDenied
    return export


def _show(request: HttpRequest, given: Mapping[str, str]) -> HttpResponse:
    tenant = choose_tenant(request)
    export = _choose(request, given)
    narrowing, errors = Narrowing(), {}
    try:
        narrowing = exports.read_narrowing(export, given)
    except Problem as problem:
        errors = {name: said[0] for name, said in problem.fields.items()}
    return show_page(
        request,
        "console/export.html",
        title="Export",
        status=400 if errors else 200,
        tenant=tenant,
        tenants=Tenant.objects.order_by("name")[:500],
        export=export,
        tables=[one for one in EXPORTS.values() if request.user.has_perm(one.permission)],
        given={name: given.get(name, "") for name in FIELDS},
        errors=errors,
        **_tell_size(tenant, export, narrowing, errors),
        latest=_find_latest(tenant),
    )


def _tell_size(
    tenant: Tenant | None, export: Export, narrowing: Narrowing, errors: Mapping[str, str]
) -> dict[str, Any]:
    size: Size | None = None
    if tenant is not None and not errors:
        size = exports.measure(exports.find_rows(export, tenant, narrowing))
    return {"size": size}


def _find_latest(tenant: Tenant | None) -> list[ExportRun]:
    return list(ExportRun.objects.of(tenant).order_by("-id")[:LATEST]) if tenant else []
