"""What can be taken out of the server, as rows: in bounded memory, however many there are."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from console import sheets
from console.export_tables import Export, Record
from console.models import ExportRun
from memoryproject.clock import read_database_clock
from memoryproject.errors import Problem
from memoryproject.fields import say_moment
from memoryproject.tenancy.models import Tenant

CHUNK = 1_000
COUNTED_TO = 10_000
"""Beyond it the planner's guess is told: to count a million rows takes longer than to look."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Which rows of a tenant are wanted. Days are of UTC, both included."""

    conversation: uuid.UUID | None = None
    state: str = ""
    since: date | None = None
    until: date | None = None

    def to_json(self) -> dict[str, str]:
        """Return what is set, as words."""
        given = {
            "conversation_id": self.conversation,
            "state": self.state,
            "since": self.since,
            "until": self.until,
        }
        return {name: str(value) for name, value in given.items() if value}


def find_rows(export: Export, tenant: Tenant, narrowing: Narrowing) -> QuerySet[Any]:
    """Return the rows that are wanted, in no order."""
    rows = export.rows(tenant)
    if narrowing.conversation is not None and export.conversation:
        rows = rows.filter(**{export.conversation: narrowing.conversation})
    if narrowing.state:
        rows = rows.filter(export.states[narrowing.state])
    if narrowing.since is not None:
        rows = rows.filter(**{f"{export.moment}__gte": _midnight(narrowing.since)})
    if narrowing.until is not None:
        end = _midnight(narrowing.until) + timedelta(days=1)
        rows = rows.filter(**{f"{export.moment}__lt": end})
    return rows


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Size:
    """How many rows there are; `exact` is False where it is a guess."""

    rows: int
    exact: bool

    def __str__(self) -> str:
        return f"{self.rows:,}" if self.exact else f"about {self.rows:,}"


def measure(rows: QuerySet[Any]) -> Size:
    """Return how many rows there are to come, counting no further than COUNTED_TO."""
    counted = rows.order_by()[: COUNTED_TO + 1].count()
    if counted <= COUNTED_TO:
        return Size(counted, exact=True)
    plan = re.search(r'"Plan Rows": (\d+)', rows.order_by().explain(format="json"))
    return Size(max(counted, int(plan[1]) if plan else 0), exact=False)


def read_records(export: Export, tenant: Tenant, narrowing: Narrowing) -> Iterator[Record]:
    """Yield the rows in order of id, through a cursor that stays on the server."""
    rows = find_rows(export, tenant, narrowing).order_by("id")
    cursor = rows.values_list(*export.fields.values()).iterator(chunk_size=CHUNK)
    while chunk := [dict(zip(export.fields, row, strict=True)) for row in islice(cursor, CHUNK)]:
        export.finish(tenant, chunk)
        for record in chunk:
            yield {name: _to_plain(value) for name, value in record.items()}


def _to_plain(value: Any) -> Any:
    """Return what JSON has for a value."""
    if isinstance(value, datetime):
        return say_moment(value)
    return str(value) if isinstance(value, uuid.UUID) else value


def to_cells(record: Record) -> Record:
    """Return a record as spreadsheets take it: lists that people read are no JSON."""
    cells = dict(record)
    for name in ("keywords", "tags"):
        words = cells.get(name)
        if words and not any(";" in word for word in words):
            cells[name] = "; ".join(words)
    if "evidence" in cells:
        cells["evidence"] = " ".join(_say_evidence(**one) for one in cells["evidence"])
    return cells


def _say_evidence(episode: str, messages: Sequence[int]) -> str:
    return f"{episode}:{','.join(map(str, messages))}" if messages else episode


def start_export(
    *, export: Export, tenant: Tenant, narrowing: Narrowing, form: str, person: str
) -> ExportRun:
    """Record that somebody takes rows out."""
    return ExportRun.objects.create(
        tenant=tenant,
        person=person,
        table=export.name,
        format=form,
        filters=narrowing.to_json(),
    )


def stream(
    export: Export,
    run: ExportRun,
    narrowing: Narrowing,
    *,
    report: Callable[[int], None] = lambda rows: None,
) -> Iterator[str]:
    """Yield the text of a file, and record at its end how many rows it has.

    `report` gets the number of rows of each piece.
    """
    sent = 0

    def count() -> Iterator[Record]:
        nonlocal sent
        for record in read_records(export, run.tenant, narrowing):
            sent += 1
            yield to_cells(record) if run.format == "csv" else record

    lines = sheets.write_rows(count(), columns=export.columns, form=run.format)
    told = 0
    while piece := list(islice(lines, CHUNK)):
        yield "".join(piece)
        report(sent - told)
        told = sent
    ExportRun.objects.of(run.tenant).filter(id=run.id).update(
        rows=sent, finished_at=read_database_clock()
    )


def read_narrowing(export: Export, given: Mapping[str, str]) -> Narrowing:
    """Return which rows are wanted, from what somebody has typed.

    Raises:
        Problem: what is wrong, by field.
    """
    faults: dict[str, list[str]] = {}

    def take(name: str, read: Callable[[str], Any], said: str) -> Any:
        text = given.get(name, "").strip()
        try:
            return read(text) if text else None
        except (ValueError, KeyError):
            faults[name] = [said]
            return None

    found = Narrowing(
        conversation=take("conversation_id", uuid.UUID, "This must be a UUID."),
        state=take("state", lambda word: {one: one for one in export.states}[word], "Unknown.")
        or "",
        since=take("since", date.fromisoformat, "This must be a day, as in 2026-03-02."),
        until=take("until", date.fromisoformat, "This must be a day, as in 2026-03-02."),
    )
    if found.conversation and export.conversation is None:
        faults["conversation_id"] = ["These belong to no conversation: leave it empty."]
    if not faults and found.since and found.until and found.until < found.since:
        faults["until"] = ["This lies before the first day."]
    if faults:
        raise Problem("Look at the fields.", fields=faults)
    return found
