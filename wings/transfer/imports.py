"""Imports in the admin: a file is validated, confirmed, and written in batches.

Each batch is one transaction that also marks it, so a run can be interrupted anywhere and resumed
on the page; importing the same file again skips existing facts.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import IO, Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, OuterRef, Subquery

from memoryproject.database.batches import in_batches
from memoryproject.database.clock import read_database_clock
from memoryproject.edge.errors import Conflict, Problem
from memoryproject.tenancy.models import Tenant
from semantic.curation import Act, check_reason
from semantic.models import Change, Changeset
from semantic.queries import content_hash
from wings.console.models import ImportBatch, ImportRun
from wings.transfer import fact_imports, file_rows, peer_runs, row_files
from wings.transfer.fact_imports import Fate
from wings.transfer.file_rows import Closed, Row, Unusable

BATCH = 500
FAULTS_SHOWN = 200
NEEDED = ("fact", "category")
USED = {
    *NEEDED, "conversation_id", "keywords", "valid_at", "evidence", "invalid_at", "valid_until",
}  # fmt: skip


def start_run(
    *, tenant: Tenant, person: str, name: str, file: IO[bytes], conversation: uuid.UUID | None
) -> ImportRun:
    """Validate a file and store its new facts as a preview. No fact is created.

    `conversation` is for rows that name none.

    Raises:
        Problem: it is not a file of facts, or too large.
    """
    file_name = name[:200].replace("\x00", "")
    run = ImportRun(tenant=tenant, person=person, file_name=file_name, counts=Counter())
    rows, unused = _read_rows(run, file, conversation)
    fresh = _find_fresh(run, rows)
    run.total, run.counts["unused"] = len(fresh), sorted(unused)[:50]
    with transaction.atomic():
        run.save(force_insert=True)
        for place, some in enumerate(in_batches(fresh, size=BATCH)):
            dumped = [row.model_dump(mode="json") for row in some]
            ImportBatch.objects.create(tenant=tenant, run=run, position=place, rows=dumped)
    return run


def _read_rows(
    run: ImportRun, file: IO[bytes], conversation: uuid.UUID | None
) -> tuple[list[Row], set[str]]:
    """Return the facts of a file, by conversation, and the unused columns.

    Repeated sentences of a conversation, and rows that are no facts, are only counted.
    """
    rows: dict[tuple[uuid.UUID, str], Row] = {}
    unused: set[str] | None = None
    for count, line in enumerate(row_files.read_rows(file), start=1):
        if count > settings.IMPORT_ROWS_AT_MOST:
            message = f"The file has more than {settings.IMPORT_ROWS_AT_MOST:,} rows. Split it."
            raise Problem(message)
        row, fault = None, line.fault
        if line.row is not None:
            unused = _check_columns(line.row) if unused is None else unused
            try:
                row = file_rows.parse_row(line.row, conversation=conversation)
            except Closed:
                run.counts["closed"] += 1
                continue
            except Unusable as problem:
                fault = problem.message
        if row is None:
            run.counts["faulty"] += 1
            if len(run.faults) < FAULTS_SHOWN:
                run.faults.append({"line": line.number, "said": fault})
        elif rows.setdefault((row.conversation, content_hash(row.fact)), row) is not row:
            run.counts["twice"] += 1
    if not rows and not run.counts:
        raise Problem("The file has a heading and no rows.")
    return sorted(rows.values(), key=lambda row: row.conversation), unused or set()


def _check_columns(row: Mapping[str, object]) -> set[str]:
    """Return the unused columns; raise Problem if one is missing."""
    names = set(map(str, row))
    missing = [name for name in NEEDED if name not in names]
    if missing:
        present = ", ".join(sorted(names)[:20])[:300] or "nothing"
        raise Problem(f"There is no column `{missing[0]}`. It has: {present}.")
    return names - USED


def _find_fresh(run: ImportRun, rows: Sequence[Row]) -> list[Row]:
    """Return the new rows, and count the others by outcome."""
    fresh: list[Row] = []
    known: set[uuid.UUID] = set()
    for part in in_batches(rows, size=BATCH):
        survey = fact_imports.survey(tenant=run.tenant, rows=part)
        known |= survey.known_conversations
        run.counts.update(fate.value for fate in survey.fates if fate is not Fate.NEW)
        run.counts["unknown_episodes"] += survey.unknown_episodes
        fresh += [row for row, fate in zip(part, survey.fates, strict=True) if fate is Fate.NEW]
    named = {row.conversation for row in rows}
    run.counts["conversations"] = len(named)
    run.counts["new_conversations"] = len(named - known)
    return fresh


def confirm_run(run: ImportRun, *, reason: str) -> ImportRun:
    """Confirm a preview; raise Conflict if that was decided before. `take_step` then writes."""
    reason = check_reason(reason)
    previews = ImportRun.objects.of(run.tenant).filter(id=run.id, state=ImportRun.State.PREVIEW)
    if not previews.update(state=ImportRun.State.RUNNING, reason=reason):
        raise Conflict("This import has been decided on already.")
    run.refresh_from_db()
    return run


def discard_run(run: ImportRun) -> None:
    """Delete a preview and its rows; raise Conflict if it was confirmed."""
    with transaction.atomic():
        locked = ImportRun.objects.of(run.tenant).select_for_update().get(id=run.id)
        if locked.state != ImportRun.State.PREVIEW:
            raise Conflict("This import has been decided on already.")
        ImportBatch.objects.of(run.tenant).filter(run=locked).delete()
        locked.delete()


def take_step(run: ImportRun) -> ImportRun:
    """Write the next batch of a confirmed run; return the updated run.

    Concurrent steps wait for each other. Without a batch left the run is done. If an erasure has
    removed rows of the batch meanwhile, nothing is written: the next step writes the rest.
    """
    pending = ImportBatch.objects.of(run.tenant).filter(run=run, done_at=None)
    first = pending.order_by("position").first()
    write = _prepare(run, first.rows) if first else None
    with transaction.atomic():
        locked = ImportRun.objects.of(run.tenant).select_for_update().get(id=run.id)
        if locked.state != ImportRun.State.RUNNING:
            return locked
        batch = pending.order_by("position").first()
        if batch is None:
            locked.state = ImportRun.State.DONE
            locked.finished_at = read_database_clock()
            locked.save(update_fields=["state", "finished_at"])
        elif first and write and (batch.id, batch.rows) == (first.id, first.rows):
            _mark(locked, batch, write(locked))
    locked.refresh_from_db()
    return locked


def _prepare(
    run: ImportRun, dumped: Sequence[dict[str, Any]]
) -> Callable[[ImportRun], Mapping[uuid.UUID, int]]:
    """Return the function that writes a batch, and returns the number of rows by changeset."""
    if run.source:
        return partial(peer_runs.write_batch, rows=dumped)
    rows = [Row.model_validate(row) for row in dumped]
    vectors = fact_imports.embed_rows(rows)  # outside the transaction: it may ask an endpoint

    def write(locked: ImportRun) -> Mapping[uuid.UUID, int]:
        act = Act(tenant=run.tenant, actor=locked.person, reason=locked.reason)
        return fact_imports.import_rows(
            act=act, rows=rows, vectors=vectors, goes_on=locked.last_changeset
        )

    return write


def _mark(run: ImportRun, batch: ImportBatch, opened: Mapping[uuid.UUID, int]) -> None:
    run.done += len(batch.rows)
    run.opened += sum(opened.values())
    run.last_changeset = list(opened)[-1] if opened else run.last_changeset
    run.save(update_fields=["done", "opened", "last_changeset"])
    batch.rows, batch.changesets = [], list(opened)
    batch.done_at = read_database_clock()
    batch.save(update_fields=["rows", "changesets", "done_at"])


def finish_run(run: ImportRun, *, report: Callable[[int], object]) -> ImportRun:
    """Write all remaining batches of a run; `report` gets the number of rows done."""
    while run.state == ImportRun.State.RUNNING:
        run = take_step(run)
        report(run.done)
    return run


def list_changesets(run: ImportRun, *, at_most: int) -> list[Changeset]:
    """Return the first changesets of a run, in order; `steps` counts their facts."""
    batches = ImportBatch.objects.of(run.tenant).filter(run=run, done_at__isnull=False)
    lists = batches.order_by("position").values_list("changesets", flat=True)
    ids = list(dict.fromkeys(chain.from_iterable(lists)))[:at_most]
    changes = Change.objects.of(run.tenant).filter(changeset=OuterRef("id")).order_by()
    steps = changes.values("changeset").annotate(steps=Count("id")).values("steps")
    changesets = Changeset.objects.of(run.tenant).filter(id__in=ids).annotate(steps=Subquery(steps))
    return list(changesets.select_related("conversation").order_by("id"))
