"""Exports: the page, the filters, and the file in limited memory, on record."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from functools import partial
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from django_filters import ChoiceFilter, DateFilter, FilterSet, UUIDFilter

from memoryproject.database.clock import read_database_clock
from memoryproject.process.release import VERSION
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.reading import Reading
from wings.console.counting import count_capped, render_sum
from wings.console.forms import ConversationField
from wings.console.models import ExportRun
from wings.console.pages import Answer, admin_page
from wings.transfer import export_tables, fact_imports, row_files
from wings.transfer.export_tables import EXPORTS, FACTS, Export, Record

PAGE = ("console/transfer/export.html", "Export", "semantic.view_fact")
LATEST = 20
FIELDS = ("table", "conversation_id", "state", "since", "until")
TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson; charset=utf-8"}


class DaysForm(forms.Form):
    def clean(self) -> None:
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if since and until and until < since:
            self.add_error("until", "This lies before the first day.")


def _refuse_conversation(_: uuid.UUID) -> None:
    raise forms.ValidationError("These belong to no conversation: leave it empty.")


def _day_filter() -> DateFilter:
    fault = {"invalid": "This must be a day, as in 2026-03-02."}
    return DateFilter(input_formats=["%Y-%m-%d"], error_messages=fault, method="filter_day")


class ConversationFilter(UUIDFilter):  # type: ignore[misc]
    """The filter of a conversation that was chosen by its line, or given by its id."""

    field_class = ConversationField


class ExportFilter(FilterSet):  # type: ignore[misc]
    """Filters of a tenant's export. Days are in UTC, both included."""

    conversation_id = ConversationFilter()
    state = ChoiceFilter(method="filter_state", error_messages={"invalid_choice": "Unknown."})
    since, until = _day_filter(), _day_filter()

    class Meta:
        form = DaysForm

    def __init__(self, params: Mapping[str, Any], *, export: Export, tenant: Tenant) -> None:
        super().__init__(params, export.rows(tenant))
        self.export, self.tenant = export, tenant
        self.filters["state"].extra["choices"] = [(word, word) for word in export.states]
        conversation = self.filters["conversation_id"]
        conversation.field_name = export.fields.get("conversation_id")
        if conversation.field_name is None:
            conversation.extra["validators"] = [_refuse_conversation]

    def filter_state(self, rows: QuerySet[Any], name: str, state: str) -> QuerySet[Any]:
        return rows.filter(self.export.states[state])

    def filter_day(self, rows: QuerySet[Any], name: str, day: date) -> QuerySet[Any]:
        lookup, at = ("gte", time.min) if name == "since" else ("lte", time.max)
        moment = datetime.combine(day, at, tzinfo=UTC)
        return rows.filter(**{f"{self.export.moment}__{lookup}": moment})

    def to_json(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.form.cleaned_data.items() if value}


def start_export(filters: ExportFilter, *, form: str, person: str) -> Iterator[str]:
    """Record an export, and return the file's text in chunks of rows.

    At its end the number of rows is recorded. `filters` are valid.
    """
    export, tenant = filters.export, filters.tenant
    run = ExportRun.objects.create(
        tenant=tenant, person=person, table=export.name, format=form, filters=filters.to_json()
    )
    header = row_files.render_header(export.columns, form=form)
    return _write_file(run, header, _render_table(export, run, filters.qs))


def start_memory_export(*, tenant: Tenant, person: str) -> Iterator[str]:
    """Record an export of everything, and return the file's text in chunks of rows.

    Left out: quarantined messages, receipts, reviews, keys and the history of changes.
    """
    run = ExportRun.objects.create(
        tenant=tenant, person=person, table=export_tables.ALL, format="jsonl"
    )
    first = {**export_tables.HEADER, "server": VERSION}
    header = row_files.render_rows([first], list(first), form="jsonl")
    return _write_file(run, header, _render_memory(tenant))


def _write_file(run: ExportRun, header: str, parts: Iterator[tuple[int, str]]) -> Iterator[str]:
    """Yield the text of a file, and at its end record the number of rows."""
    yield header
    count = 0
    for rows, text in parts:
        yield text
        count += rows
    ExportRun.objects.of(run.tenant).filter(id=run.id).update(
        rows=count, finished_at=read_database_clock()
    )


def _render_table(export: Export, run: ExportRun, rows: QuerySet[Any]) -> Iterator[tuple[int, str]]:
    for chunk in _read_chunks(export, run.tenant, rows):
        records = map(_to_cells, chunk) if run.format == "csv" else chunk
        yield len(chunk), row_files.render_rows(records, export.columns, form=run.format)


def _render_memory(tenant: Tenant) -> Iterator[tuple[int, str]]:
    for name, export in export_tables.OF_MEMORY.items():
        rows = export.rows(tenant)
        if export in (export_tables.EPISODES, export_tables.MESSAGES):
            rows = rows.filter(withheld_by=None)
        hidden = {"id"} if name in export_tables.ANONYMOUS else set()
        columns = ["table", *(column for column in export.columns if column not in hidden)]
        for chunk in _read_chunks(export, tenant, rows):
            _put_original_ids(tenant, chunk)
            records = ({"table": name, **record} for record in chunk)
            yield len(chunk), row_files.render_rows(records, columns, form="jsonl")


def _read_chunks(export: Export, tenant: Tenant, rows: QuerySet[Any]) -> Iterator[list[Record]]:
    """Yield complete records in order of id, a limited number at a time."""
    fields = export.fields
    ordered = rows.order_by("id").values_list("id", *fields.values())

    def read_next(after: QuerySet[Any]) -> tuple[uuid.UUID | None, list[Record]]:
        part = list(after[: settings.EXPORT_CHUNK])
        chunk = [dict(zip(fields, row[1:], strict=True)) for row in part]
        if chunk:
            export.finish(tenant, chunk)
        return part[-1][0] if part else None, chunk

    reading = Reading(tenant)
    last_id, chunk = reading.read(partial(read_next, ordered))
    while chunk:
        yield chunk
        after = ordered.filter(id__gt=last_id)
        last_id, chunk = reading.read(partial(read_next, after))


def _put_original_ids(tenant: Tenant, chunk: list[Record]) -> None:
    """Set the ids that rows had in the file they were imported from."""
    names = export_tables.REFERENCES
    ids = {row[name] for row in chunk for name in names if row.get(name)}
    evidence = [entry for row in chunk for entry in row.get("evidence", [])]
    ids |= {uuid.UUID(entry["episode"]) for entry in evidence}
    steps = fact_imports.find_imported(tenant, export_tables.MEMORY).filter(memory_id__in=ids)
    originals = dict(steps.values_list("memory_id", "other_memory_id"))
    for row in chunk:
        row.update({name: originals.get(row[name], row[name]) for name in names if row.get(name)})
    for entry in evidence:
        episode = uuid.UUID(entry["episode"])
        entry["episode"] = str(originals.get(episode, episode))


def _to_cells(record: Record) -> Record:
    cells = dict(record)
    for name in ("keywords", "tags"):
        words = cells.get(name)
        if words and not any(";" in word for word in words):
            cells[name] = "; ".join(words)
    if "evidence" in cells:
        cells["evidence"] = " ".join(_render_evidence(**entry) for entry in cells["evidence"])
    return cells


def _render_evidence(episode: str, messages: Sequence[int]) -> str:
    return f"{episode}:{','.join(map(str, messages))}" if messages else episode


@admin_page(*PAGE, of_one_tenant=True)
def show_exports(request: HttpRequest, tenant: Tenant) -> Answer:
    """Show the possible exports and, for the selected one, the number of rows."""
    return _read_page(request, tenant, request.GET)


@admin_page(*PAGE, of_one_tenant=True, posts=True)
def download(request: HttpRequest, tenant: Tenant) -> Answer:
    """Send the rows as a file while they are read, on record."""
    params = request.POST
    export, form = _choose(request, params), params.get("format", "")
    filters = ExportFilter(params, export=export, tenant=tenant)
    if form not in row_files.FORMATS or not filters.is_valid():
        return _read_page(request, tenant, params)
    pieces = start_export(filters, form=form, person=request.user.get_username())
    day = timezone.now().strftime("%Y-%m-%d")
    return StreamingHttpResponse(
        pieces,
        content_type=TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="{export.name}-{day}.{form}"'},
    )


def _choose(request: HttpRequest, params: Mapping[str, str]) -> Export:
    """Return the selected export, or raise PermissionDenied."""
    export = EXPORTS.get(params.get("table", ""), FACTS)
    if not request.user.has_perm(export.permission):
        raise PermissionDenied
    return export


def _read_page(request: HttpRequest, tenant: Tenant, params: Mapping[str, str]) -> dict[str, Any]:
    export = _choose(request, params)
    filters = ExportFilter(params, export=export, tenant=tenant)
    return {
        "tenant": tenant,
        "export": export,
        "tables": [row for row in EXPORTS.values() if request.user.has_perm(row.permission)],
        "params": {name: params.get(name, "") for name in FIELDS},
        "errors": filters.errors,
        "size": None if filters.errors else render_sum([count_capped(filters.qs)]),
        "latest": ExportRun.objects.of(tenant).order_by("-id")[:LATEST],
    }
