"""The page of exports: choose, count and download rows."""

from collections.abc import Mapping

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone

from console.counting import count_capped, render_sum
from console.models import ExportRun
from console.pages import action_for, choose_tenant, page_for, show_page
from console.transfer import exports, row_files
from console.transfer.export_tables import EXPORTS, FACTS, Export
from console.transfer.exports import ExportFilter

PERMISSION = "semantic.view_fact"
LATEST = 20
FIELDS = ("table", "conversation_id", "state", "since", "until")
TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson; charset=utf-8"}


@page_for(PERMISSION, of_one_tenant=True)
def show_exports(request: HttpRequest) -> HttpResponse:
    """Show what can be chosen and, of what is chosen, how many rows there are."""
    return _show(request, request.GET)


@action_for(PERMISSION, of_one_tenant=True)
def download(request: HttpRequest) -> HttpResponseBase:
    """Send the rows as a file, as they come from the database, and put it on record."""
    params = request.POST
    export, tenant = _choose(request, params), choose_tenant(request)
    form = params.get("format", "")
    filters = ExportFilter(params, export=export, tenant=tenant) if tenant else None
    if not tenant or not filters or form not in row_files.FORMATS or not filters.is_valid():
        return _show(request, params)
    person = request.user.get_username()
    pieces = exports.start_export(
        export=export, tenant=tenant, filters=filters, form=form, person=person
    )
    day = timezone.now().strftime("%Y-%m-%d")
    return StreamingHttpResponse(
        pieces,
        content_type=TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="{export.name}-{day}.{form}"'},
    )


def _choose(request: HttpRequest, params: Mapping[str, str]) -> Export:
    """Return what is to be exported.

    Raises:
        PermissionDenied: not by this person.
    """
    export = EXPORTS.get(params.get("table", ""), FACTS)
    if not request.user.has_perm(export.permission):
        raise PermissionDenied
    return export


def _show(request: HttpRequest, params: Mapping[str, str]) -> HttpResponse:
    tenant = choose_tenant(request)
    export = _choose(request, params)
    errors, size = {}, None
    if tenant is not None:
        filters = ExportFilter(params, export=export, tenant=tenant)
        errors = {name: faults[0] for name, faults in filters.errors.items()}
        size = None if errors else render_sum([count_capped(filters.qs)])
    return show_page(
        request,
        "console/transfer/export.html",
        title="Export",
        status=400 if errors else 200,
        tenant=tenant,
        export=export,
        tables=[row for row in EXPORTS.values() if request.user.has_perm(row.permission)],
        params={name: params.get(name, "") for name in FIELDS},
        errors=errors,
        size=size,
        latest=ExportRun.objects.of(tenant).order_by("-id")[:LATEST] if tenant else [],
    )
