"""Imports as runs: a file is looked through, decided on, and written batch by batch.

Each batch is one transaction that also marks it, so a run can be broken off anywhere and
goes on where it was, in the page or by `manage.py import_facts --resume`.
"""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import IO

from django.conf import settings
from django.db import transaction
from django.db.models import Count, OuterRef, Subquery

from console import sheets
from console.models import ImportBatch, ImportRun
from memoryproject.clock import read_database_clock
from memoryproject.errors import Conflict, Problem
from memoryproject.tenancy.models import Tenant
from semantic import file_rows, importing
from semantic.curation import REASON_AT_MOST, Act
from semantic.file_rows import Closed, Row, Unusable
from semantic.importing import Fate
from semantic.models import Change, Changeset
from semantic.queries import content_hash

BYTES_AT_MOST: int = settings.MAX_UPLOAD_BYTES
ROWS_AT_MOST = 100_000
BATCH = 500
FAULTS_SHOWN = 200
NEEDED = ("fact", "category")
USED = frozenset({*NEEDED, "conversation_id", "keywords", "valid_at", "evidence"})
SAYS_CLOSED = frozenset({"invalid_at", "valid_until"})


@dataclass(slots=True)
class Reading:
    """What a file holds, as far as it was read. Rows by conversation, the file's order in each."""

    rows: dict[uuid.UUID, list[Row]] = field(default_factory=lambda: defaultdict(list))
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[dict[str, str | int]] = field(default_factory=list)
    unused: frozenset[str] = frozenset()
    _seen: set[tuple[uuid.UUID, str]] = field(default_factory=set)

    def add(self, row: Row) -> None:
        """Take a row, unless the file has said the same of the same conversation."""
        key = (row.conversation, content_hash(row.fact))
        if key in self._seen:
            self.counts["twice"] += 1
            return
        self._seen.add(key)
        self.rows[row.conversation].append(row)

    def reject(self, line: int, said: str) -> None:
        """Note that a line is no fact to open."""
        self.counts["faulty"] += 1
        if len(self.faults) < FAULTS_SHOWN:
            self.faults.append({"line": line, "said": said})


def read_file(file: IO[bytes], *, conversation: uuid.UUID | None = None) -> Reading:
    """Return what a file holds; `conversation` is that of rows which name none.

    Raises:
        Problem: it is no file of facts, or too large.
    """
    reading = Reading()
    for count, line in enumerate(_check_columns(sheets.read_rows(file), reading), start=1):
        if count > ROWS_AT_MOST:
            raise Problem(f"The file has more than {ROWS_AT_MOST:,} rows. Split it.")
        if line.given is None:
            reading.reject(line.number, line.fault)
            continue
        try:
            reading.add(file_rows.read_row(line.given, conversation=conversation))
        except Closed:
            reading.counts["closed"] += 1
        except Unusable as problem:
            reading.reject(line.number, problem.message)
    if not reading.rows and not reading.counts:
        raise Problem("The file has a heading and no rows.")
    return reading


def _check_columns(lines: Iterator[sheets.Line], reading: Reading) -> Iterator[sheets.Line]:
    """Pass lines on, if the first one has the columns of facts."""
    seen = []
    for line in lines:
        seen.append(line)
        if line.given is not None:
            names = frozenset(str(name) for name in line.given)
            missing = [name for name in NEEDED if name not in names]
            if missing:
                has = ", ".join(sorted(names)[:20]) or "nothing"
                said = f"There is no column `{missing[0]}`. It has: {has[:300]}."
                raise Problem(said)
            reading.unused = names - USED - SAYS_CLOSED
            break
    return chain(seen, lines)


def start_run(
    *, tenant: Tenant, person: str, name: str, file: IO[bytes], conversation: uuid.UUID | None
) -> ImportRun:
    """Look through a file and keep what would be new, for a decision. No fact is written.

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
        _keep_batches(run, fresh)
    return run


def _find_fresh(reading: Reading, tenant: Tenant) -> list[Row]:
    """Return the rows that would be new, by conversation, and count what the others are."""
    counts, fresh = reading.counts, []
    known: set[uuid.UUID] = set()
    for part in _cut([row for home in sorted(reading.rows) for row in reading.rows[home]]):
        looked = importing.survey(tenant=tenant, rows=part)
        known |= looked.known_conversations
        counts.update(fate.value for fate in looked.fates if fate is not Fate.NEW)
        counts["unknown_episodes"] += looked.unknown_episodes
        fates = zip(part, looked.fates, strict=True)
        fresh += [row for row, fate in fates if fate is Fate.NEW]
    counts["conversations"] = len(reading.rows)
    counts["new_conversations"] = len(reading.rows.keys() - known)
    return fresh


def _cut(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    return (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))


def _keep_batches(run: ImportRun, fresh: Sequence[Row]) -> None:
    for place, rows in enumerate(_cut(fresh)):
        ImportBatch.objects.create(
            tenant=run.tenant, run=run, position=place, rows=[row.to_json() for row in rows]
        )


def confirm_run(run: ImportRun, *, reason: str) -> ImportRun:
    """Decide for a run that waits; what is there to write is written by `take_step`.

    Raises:
        Conflict: it does not wait any more.
        Problem: no reason, or one that is too long.
    """
    said = reason.strip()
    if not said or len(said) > REASON_AT_MOST or "\x00" in said:
        wrong = f"Say why, in at most {REASON_AT_MOST} characters."
        raise Problem(wrong, fields={"reason": [wrong]})
    waiting = ImportRun.objects.of(run.tenant).filter(id=run.id, state=ImportRun.State.PREVIEW)
    if not waiting.update(state=ImportRun.State.RUNNING, reason=said):
        raise Conflict("This import has been decided on already.")
    run.refresh_from_db()
    return run


def discard_run(run: ImportRun) -> None:
    """Forget a run that waits, and the rows that it keeps.

    Raises:
        Conflict: it does not wait any more.
    """
    with transaction.atomic():
        locked = ImportRun.objects.of(run.tenant).select_for_update().get(id=run.id)
        if locked.state != ImportRun.State.PREVIEW:
            raise Conflict("This import has been decided on already.")
        ImportBatch.objects.of(run.tenant).filter(run=locked).delete()
        locked.delete()


def take_step(run: ImportRun) -> ImportRun:
    """Write the next batch of a run that was decided for; return the run as it is then.

    Two at once wait for each other. Where no batch is left the run is done. Nothing is written
    where an erasure has taken rows out of the batch meanwhile: the next step writes the rest.
    """
    pending = ImportBatch.objects.of(run.tenant).filter(run=run, done_at=None)
    peeked = pending.order_by("position").first()
    rows = [file_rows.from_json(row) for row in peeked.rows] if peeked else []
    vectors = importing.embed_rows(rows)  # outside the transaction: it may ask an endpoint
    with transaction.atomic():
        locked = ImportRun.objects.of(run.tenant).select_for_update().get(id=run.id)
        if locked.state != ImportRun.State.RUNNING:
            return locked
        batch = pending.order_by("position").first()
        if batch is None:
            locked.state = ImportRun.State.DONE
            locked.finished_at = read_database_clock()
            locked.save(update_fields=["state", "finished_at"])
        elif peeked is not None and (batch.id, batch.rows) == (peeked.id, peeked.rows):
            act = Act(tenant=run.tenant, actor=locked.person, reason=locked.reason)
            made = importing.import_rows(
                act=act, rows=rows, vectors=vectors, goes_on=locked.last_changeset
            )
            _mark(locked, batch, made)
    locked.refresh_from_db()
    return locked


def _mark(run: ImportRun, batch: ImportBatch, made: importing.Imported) -> None:
    run.done += len(batch.rows)
    run.opened += made.opened
    run.last_changeset = made.changesets[-1] if made.changesets else run.last_changeset
    run.save(update_fields=["done", "opened", "last_changeset"])
    batch.rows, batch.changesets = [], list(made.changesets)
    batch.done_at = read_database_clock()
    batch.save(update_fields=["rows", "changesets", "done_at"])


def finish_run(run: ImportRun, *, report: Callable[[int], None]) -> ImportRun:
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
    found = Changeset.objects.of(run.tenant).filter(id__in=ids).annotate(steps=Subquery(steps))
    return list(found.select_related("conversation").order_by("id"))
