"""Imports of another system's export in the admin: stored as a preview, written in batches."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DataError, transaction

from memoryproject.edge.errors import Problem
from memoryproject.edge.json_files import ignore
from memoryproject.tenancy.models import Tenant
from semantic.curation import Act
from semantic.models import Changeset
from wings.console.models import ImportBatch, ImportRun
from wings.transfer.peer_files import Kind, Record
from wings.transfer.peer_imports import PeerImport

NAMES_SHOWN = 40
Row = dict[str, Any]


def start_run(
    *, tenant: Tenant, person: str, name: str, path: Path, source: str, user_id: str
) -> ImportRun:
    """Read a file and store its new records as a preview. Nothing is written yet.

    Raises:
        Problem: it is not an export of the source, or has too many records.
    """
    preview = PeerImport(tenant, path, source, None, ignore, user_id=user_id)
    run = ImportRun(tenant=tenant, person=person, file_name=name, source=source, total=0)
    try:
        with transaction.atomic():
            run.save(force_insert=True)
            for place, records in enumerate(preview.list_new()):
                run.total += len(records)
                if run.total > settings.IMPORT_ROWS_AT_MOST:
                    most = f"{settings.IMPORT_ROWS_AT_MOST:,}"
                    raise Problem(f"It has more than {most} records: use manage.py import_from.")
                rows = list(map(dump, records))
                ImportBatch.objects.create(tenant=tenant, run=run, position=place, rows=rows)
            run.counts = {
                "fates": [[*fate, count] for fate, count in sorted(preview.counts.items())],
                "lost": preview.lost.most_common(NAMES_SHOWN),
            }
            faults = (fault.rpartition(": ") for fault in preview.faults)
            run.faults = [{"line": place, "said": said} for place, _, said in faults]
            run.save(update_fields=["total", "counts", "faults"])
    except DataError:
        raise Problem("The file has characters that cannot be stored.") from None
    return run


def write_batch(run: ImportRun, rows: Sequence[Row]) -> Mapping[uuid.UUID, int]:
    """Write the records of a batch that are new still; return their number by changeset."""
    act = Act(tenant=run.tenant, actor=run.person, reason=run.reason)
    changesets = Changeset.objects.of(run.tenant).filter(id__in=[run.last_changeset])
    changeset = changesets.first()  # None at first, and if the import was undone meanwhile
    peer = PeerImport(run.tenant, Path(), run.source, act, ignore, changeset=changeset)
    new = list(peer.choose_new(list(map(load, rows))))
    if new:
        peer.write(new, act)
    return {peer.changeset.id: len(new)} if peer.changeset else {}


def dump(record: Record) -> Row:
    """Return a record as JSON with our external id of its conversation, for erasures to find."""
    columns = json.loads(json.dumps({**asdict(record), "lost": ()}, default=str))
    return {"conversation": str(record.home or ""), "record": columns}


def load(row: Row) -> Record:
    columns = {**row["record"], "kind": Kind(row["record"]["kind"])}
    record_id, place = uuid.UUID(columns.pop("id")), columns.pop("place")
    for name in ("at", "until"):
        columns[name] = datetime.fromisoformat(columns[name]) if columns[name] else None
    record = Record(**{**columns, "words": tuple(columns["words"])})
    record.id, record.place = record_id, place
    return record
