"""Imports of facts: a file is validated, confirmed, and written batch by batch.

Each batch is one transaction that also marks it, so a run can be interrupted anywhere and
resumed, in the page or by `manage.py import_facts --resume`.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import IO

from django.conf import settings
from django.db import transaction
from django.db.models import Count, OuterRef, Subquery

from console.models import ImportBatch, ImportRun
from console.transfer import row_files
from memoryproject.database.batches import in_batches
from memoryproject.database.clock import read_database_clock
from memoryproject.edge.errors import Conflict, Problem
from memoryproject.tenancy.models import Tenant
from semantic import fact_imports, file_rows
from semantic.curation import Act, check_reason
from semantic.fact_imports import Fate
from semantic.file_rows import Closed, Row, Unusable
from semantic.models import Change, Changeset
from semantic.queries import content_hash

BATCH = 500
FAULTS_SHOWN = 200
NEEDED = ("fact", "category")
USED = frozenset({*NEEDED, "conversation_id", "keywords", "valid_at", "evidence"})
CLOSING = frozenset({"invalid_at", "valid_until"})


@dataclass(slots=True)
class Reading:
    """The rows and faults of a file. Rows by conversation and sentence, in the file's order."""

    rows: dict[tuple[uuid.UUID, str], Row] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[dict[str, str | int]] = field(default_factory=list)
    unused: frozenset[str] = frozenset()

    def add(self, row: Row) -> None:
        """Add a row, unless the file has the same sentence in the same conversation before."""
        if self.rows.setdefault((row.conversation, content_hash(row.fact)), row) is not row:
            self.counts["twice"] += 1

    def reject(self, line: int, fault: str) -> None:
        """Count a line that is no fact to open."""
        self.counts["faulty"] += 1
        if len(self.faults) < FAULTS_SHOWN:
            self.faults.append({"line": line, "said": fault})


def read_file(file: IO[bytes], *, conversation: uuid.UUID | None = None) -> Reading:
    """Return what a file holds; `conversation` is that of rows which name none.

    Raises:
        Problem: it is no file of facts, or too large.
    """
    reading = Reading()
    for count, line in enumerate(_check_columns(row_files.read_rows(file), reading), start=1):
        if count > settings.IMPORT_ROWS_AT_MOST:
            raise Problem(
                f"The file has more than {settings.IMPORT_ROWS_AT_MOST:,} rows. Split it."
            )
        if line.row is None:
            reading.reject(line.number, line.fault)
            continue
        try:
            reading.add(file_rows.parse_row(line.row, conversation=conversation))
        except Closed:
            reading.counts["closed"] += 1
        except Unusable as problem:
            reading.reject(line.number, problem.message)
    if not reading.rows and not reading.counts:
        raise Problem("The file has a heading and no rows.")
    return reading


def _check_columns(lines: Iterator[row_files.Line], reading: Reading) -> Iterator[row_files.Line]:
    """Pass lines on, if the first one has the columns of facts."""
    seen = []
    for line in lines:
        seen.append(line)
        if line.row is not None:
            names = frozenset(str(name) for name in line.row)
            missing = [name for name in NEEDED if name not in names]
            if missing:
                present = ", ".join(sorted(names)[:20])[:300] or "nothing"
                raise Problem(f"There is no column `{missing[0]}`. It has: {present}.")
            reading.unused = names - USED - CLOSING
            break
    return chain(seen, lines)


def start_run(
    *, tenant: Tenant, person: str, name: str, file: IO[bytes], conversation: uuid.UUID | None
) -> ImportRun:
    """Validate a file and keep what would be new, as a preview. No fact is written.

    Raises:
        Problem: it is no file of facts, or too large.
    """
    reading = read_file(file, conversation=conversation)
    fresh = _find_fresh(reading, tenant)
    with transaction.atomic():
        run = ImportRun.objects.create(
            tenant=tenant,
            person=person,
            file_name=name[:200].replace("\x00", ""),
            total=len(fresh),
            counts={**reading.counts, "unused": sorted(reading.unused)[:50]},
            faults=reading.faults,
        )
        for place, rows in enumerate(in_batches(fresh, size=BATCH)):
            ImportBatch.objects.create(
                tenant=tenant,
                run=run,
                position=place,
                rows=[row.model_dump(mode="json") for row in rows],
            )
    return run


def _find_fresh(reading: Reading, tenant: Tenant) -> list[Row]:
    """Return the rows that would be new, by conversation, and count the others by fate."""
    counts, fresh = reading.counts, []
    known: set[uuid.UUID] = set()
    rows = sorted(reading.rows.values(), key=lambda row: row.conversation)
    conversations = {row.conversation for row in rows}
    for part in in_batches(rows, size=BATCH):
        survey = fact_imports.survey(tenant=tenant, rows=part)
        known |= survey.known_conversations
        counts.update(fate.value for fate in survey.fates if fate is not Fate.NEW)
        counts["unknown_episodes"] += survey.unknown_episodes
        fresh += [row for row, fate in zip(part, survey.fates, strict=True) if fate is Fate.NEW]
    counts["conversations"] = len(conversations)
    counts["new_conversations"] = len(conversations - known)
    return fresh


def confirm_run(run: ImportRun, *, reason: str) -> ImportRun:
    """Confirm a preview; `take_step` writes its facts.

    Raises:
        Conflict: it was confirmed already.
        Problem: no reason, or one that is too long.
    """
    reason = check_reason(reason)
    previews = ImportRun.objects.of(run.tenant).filter(id=run.id, state=ImportRun.State.PREVIEW)
    if not previews.update(state=ImportRun.State.RUNNING, reason=reason):
        raise Conflict("This import has been decided on already.")
    run.refresh_from_db()
    return run


def discard_run(run: ImportRun) -> None:
    """Delete a preview and its rows.

    Raises:
        Conflict: it was confirmed already.
    """
    with transaction.atomic():
        locked = ImportRun.objects.of(run.tenant).select_for_update().get(id=run.id)
        if locked.state != ImportRun.State.PREVIEW:
            raise Conflict("This import has been decided on already.")
        ImportBatch.objects.of(run.tenant).filter(run=locked).delete()
        locked.delete()


def take_step(run: ImportRun) -> ImportRun:
    """Write the next batch of a confirmed run; return the run as it is then.

    Two at once wait for each other. Where no batch is left the run is done. Nothing is written
    where an erasure has taken rows out of the batch meanwhile: the next step writes the rest.
    """
    pending = ImportBatch.objects.of(run.tenant).filter(run=run, done_at=None)
    first = pending.order_by("position").first()
    rows = [Row.model_validate(row) for row in first.rows] if first else []
    vectors = fact_imports.embed_rows(rows)  # outside the transaction: it may ask an endpoint
    with transaction.atomic():
        locked = ImportRun.objects.of(run.tenant).select_for_update().get(id=run.id)
        if locked.state != ImportRun.State.RUNNING:
            return locked
        batch = pending.order_by("position").first()
        if batch is None:
            locked.state = ImportRun.State.DONE
            locked.finished_at = read_database_clock()
            locked.save(update_fields=["state", "finished_at"])
        elif first is not None and (batch.id, batch.rows) == (first.id, first.rows):
            act = Act(tenant=run.tenant, actor=locked.person, reason=locked.reason)
            opened = fact_imports.import_rows(
                act=act, rows=rows, vectors=vectors, goes_on=locked.last_changeset
            )
            _mark(locked, batch, opened)
    locked.refresh_from_db()
    return locked


def _mark(run: ImportRun, batch: ImportBatch, opened: Mapping[uuid.UUID, int]) -> None:
    run.done += len(batch.rows)
    run.opened += sum(opened.values())
    run.last_changeset = list(opened)[-1] if opened else run.last_changeset
    run.save(update_fields=["done", "opened", "last_changeset"])
    batch.rows, batch.changesets = [], list(opened)
    batch.done_at = read_database_clock()
    batch.save(update_fields=["rows", "changesets", "done_at"])


def finish_run(run: ImportRun, *, report: Callable[[int], object]) -> ImportRun:
    """Write all that is left of a run; `report` gets how many rows are dealt with."""
    while run.state == ImportRun.State.RUNNING:
        run = take_step(run)
        report(run.done)
    return run


def list_changesets(run: ImportRun, *, at_most: int) -> list[Changeset]:
    """Return the first changesets that came of a run, in order; `steps` counts its facts."""
    batches = ImportBatch.objects.of(run.tenant).filter(run=run, done_at__isnull=False)
    lists = batches.order_by("position").values_list("changesets", flat=True)
    ids = list(dict.fromkeys(chain.from_iterable(lists)))[:at_most]
    changes = Change.objects.of(run.tenant).filter(changeset=OuterRef("id")).order_by()
    steps = changes.values("changeset").annotate(steps=Count("id")).values("steps")
    changesets = Changeset.objects.of(run.tenant).filter(id__in=ids).annotate(steps=Subquery(steps))
    return list(changesets.select_related("conversation").order_by("id"))
