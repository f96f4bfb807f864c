"""Exports all memory of a tenant as one file of JSON lines, which `import_from memory` reads back.

The first line names format and version. Every other line is a row of a table, in the order of
TABLES and then of making. What came from such a file goes out under the ids that it had there, so
that two exports with an import in between are equal.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

from console.models import ExportRun
from console.transfer import exports, row_files
from console.transfer.export_tables import (
    EPISODES,
    FACTS,
    LINKS,
    MESSAGES,
    NOTE_VERSIONS,
    NOTES,
    Export,
    Record,
    columns_of,
)
from episodic.models import Conversation
from memoryproject.tenancy.models import Tenant
from semantic import fact_imports

MEMORY = "memory"
ALL = "all"
HEADER = {"format": "memory-server", "version": 1}
CONVERSATIONS = Export(
    name="conversations",
    title="Conversations",
    permission="episodic.view_conversation",
    rows=Conversation.objects.of,
    fields=columns_of(
        "external_id user_id agent_id language next_seq window_doubled previous_summary created_at"
    ),
    states={},
)
TABLES = {
    export.name: export
    for export in (CONVERSATIONS, EPISODES, MESSAGES, FACTS, NOTES, NOTE_VERSIONS, LINKS)
}
"""In an order in which each table refers to those before it alone."""
ANONYMOUS = frozenset({CONVERSATIONS.name, NOTE_VERSIONS.name, LINKS.name})
"""Tables whose rows are known by other columns than their id."""
REFERENCES = ("id", "episode_id", "superseded_by", "note_id", "from_id", "to_id")
"""The columns that hold the id of a message or a memory."""


def start_export(*, tenant: Tenant, person: str) -> Iterator[str]:
    """Record that somebody exports everything, and return the text of the file, some rows each.

    Quarantined messages stay behind, and so do receipts, reviews, keys and the history of changes.
    """
    run = ExportRun.objects.create(tenant=tenant, person=person, table=ALL, format="jsonl")
    return _write_file(run)


def _write_file(run: ExportRun) -> Iterator[str]:
    yield row_files.render_rows([HEADER], list(HEADER), form="jsonl")
    count, tenant = 0, run.tenant
    for name, export in TABLES.items():
        rows = export.rows(tenant)
        if export in (EPISODES, MESSAGES):
            rows = rows.filter(withheld_by=None)
        columns = [column for column in export.columns if column != "id" or name not in ANONYMOUS]
        for chunk in exports.read_chunks(export, tenant, rows):
            _put_original_ids(tenant, chunk)
            records = ({"table": name, **record} for record in chunk)
            yield row_files.render_rows(records, ["table", *columns], form="jsonl")
            count += len(chunk)
    exports.close_run(run, rows=count)


def _put_original_ids(tenant: Tenant, chunk: list[Record]) -> None:
    """Name rows as the file did from which they were imported."""
    ids = {row[name] for row in chunk for name in REFERENCES if row.get(name)}
    evidence = [entry for row in chunk for entry in row.get("evidence", [])]
    ids |= {uuid.UUID(entry["episode"]) for entry in evidence}
    originals = fact_imports.find_sources(tenant=tenant, row_ids=ids, source=MEMORY)
    for row in chunk:
        row.update(
            {name: originals.get(row[name], row[name]) for name in REFERENCES if row.get(name)}
        )
    for entry in evidence:
        episode: Any = uuid.UUID(entry["episode"])
        entry["episode"] = str(originals.get(episode, episode))
