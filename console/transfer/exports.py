"""Exports: filters, counting, and the text of the file in bounded memory, on record."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from functools import partial
from typing import Any

from django import forms
from django.conf import settings
from django.db.models import QuerySet
from django_filters import ChoiceFilter, DateFilter, FilterSet, UUIDFilter

from console.models import ExportRun
from console.transfer import row_files
from console.transfer.export_tables import Export, Record
from memoryproject.database.clock import read_database_clock
from memoryproject.tenancy import reading
from memoryproject.tenancy.models import Tenant


class DaysForm(forms.Form):
    """Days in their order."""

    def clean(self) -> None:
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if since and until and until < since:
            self.add_error("until", "This lies before the first day.")


def _refuse_conversation(_: uuid.UUID) -> None:
    raise forms.ValidationError("These belong to no conversation: leave it empty.")


def _day_filter(**options: Any) -> DateFilter:
    fault = {"invalid": "This must be a day, as in 2026-03-02."}
    return DateFilter(input_formats=["%Y-%m-%d"], error_messages=fault, **options)


class ExportFilter(FilterSet):  # type: ignore[misc]
    """Narrows what is exported of a tenant. Days are of UTC, both included."""

    conversation_id = UUIDFilter(error_messages={"invalid": "This must be a UUID."})
    state = ChoiceFilter(method="filter_state", error_messages={"invalid_choice": "Unknown."})
    since = _day_filter(method="filter_since")
    until = _day_filter(method="filter_until")

    class Meta:
        form = DaysForm

    def __init__(self, params: Mapping[str, Any], *, export: Export, tenant: Tenant) -> None:
        super().__init__(params, export.rows(tenant))
        self._export = export
        self.filters["state"].extra["choices"] = [(word, word) for word in export.states]
        conversation = self.filters["conversation_id"]
        conversation.field_name = export.conversation
        if export.conversation is None:
            conversation.extra["validators"] = [_refuse_conversation]

    def filter_state(self, rows: QuerySet[Any], name: str, state: str) -> QuerySet[Any]:
        """Keep the rows of a state."""
        return rows.filter(self._export.states[state])

    def filter_since(self, rows: QuerySet[Any], name: str, day: date) -> QuerySet[Any]:
        """Keep what is of that day or later."""
        moment = datetime.combine(day, time.min, tzinfo=UTC)
        return rows.filter(**{f"{self._export.moment}__gte": moment})

    def filter_until(self, rows: QuerySet[Any], name: str, day: date) -> QuerySet[Any]:
        """Keep what is of that day or earlier."""
        moment = datetime.combine(day, time.max, tzinfo=UTC)
        return rows.filter(**{f"{self._export.moment}__lte": moment})

    def to_json(self) -> dict[str, str]:
        """Return what is set, as words."""
        return {name: str(value) for name, value in self.form.cleaned_data.items() if value}


def start_export(
    *, export: Export, tenant: Tenant, filters: ExportFilter, form: str, person: str
) -> Iterator[str]:
    """Record that somebody exports rows, and return the text of the file, some rows each.

    With the last of it the number of rows is recorded. `filters` are valid.
    """
    run = ExportRun.objects.create(
        tenant=tenant, person=person, table=export.name, format=form, filters=filters.to_json()
    )
    return _write_file(export, run, filters.qs)


def _write_file(export: Export, run: ExportRun, rows: QuerySet[Any]) -> Iterator[str]:
    yield row_files.render_header(export.columns, form=run.format)
    count = 0
    for chunk in read_chunks(export, run.tenant, rows):
        rows_of_file = map(to_cells, chunk) if run.format == "csv" else chunk
        yield row_files.render_rows(rows_of_file, export.columns, form=run.format)
        count += len(chunk)
    close_run(run, rows=count)


def read_chunks(export: Export, tenant: Tenant, rows: QuerySet[Any]) -> Iterator[list[Record]]:
    """Yield complete records in the order of their rows' ids, a bounded number at a time."""
    ordered = rows.order_by("id").values_list("id", *export.fields.values())

    def read_next(after: QuerySet[Any]) -> tuple[uuid.UUID | None, list[Record]]:
        part = list(after[: settings.EXPORT_CHUNK])
        chunk = [dict(zip(export.fields, row[1:], strict=True)) for row in part]
        if chunk:
            export.finish(tenant, chunk)
        return part[-1][0] if part else None, chunk

    last_id, chunk = reading.read(partial(read_next, ordered), tenant=tenant, key=None)
    while chunk:
        yield chunk
        after = ordered.filter(id__gt=last_id)
        last_id, chunk = reading.read(partial(read_next, after), tenant=tenant, key=None)


def close_run(run: ExportRun, *, rows: int) -> None:
    """Record that an export has sent all of its rows."""
    ExportRun.objects.of(run.tenant).filter(id=run.id).update(
        rows=rows, finished_at=read_database_clock()
    )


def to_cells(record: Record) -> Record:
    """Return a record with its lists as a spreadsheet shows them, not as JSON."""
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
