"""Restores a file of `export_memory all` as one changeset, with rows as they were.

Ids are kept if no row of this server has them, otherwise all are replaced; the changeset has both.
A conversation not created by such an import keeps its messages and episodes, and gets none from the
file.
"""

import json
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, transaction
from django.db.models import Exists, F, OuterRef

from episodic import episode_index, queries
from episodic import services as episodic
from episodic.models import Conversation, Episode, Message
from indexing import services as index
from indexing.models import Memory, MemoryKind, SearchUnit
from memoryproject.ai.embeddings import Vectors
from memoryproject.database.batches import in_batches
from memoryproject.database.ids import make_id
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.quotas import check_quota
from memoryproject.text.cleaning import clean, clean_block
from memoryproject.text.tokens import measure
from semantic import services as semantic
from semantic.copies import place_copies
from semantic.models import Changeset, Evidence, Fact
from semantic.queries import content_hash
from wings.notes import services as notes
from wings.notes.models import Note
from wings.transfer import export_tables, fact_imports
from wings.transfer.export_tables import ANONYMOUS, MEMORY, OF_MEMORY, REFERENCES
from wings.transfer.file_imports import FileImport
from wings.transfer.memory_files import Row, read_batches
from wings.transfer.peer_imports import AT_ONCE, NEW

KINDS = {"episodes": MemoryKind.EPISODE, "facts": MemoryKind.FACT, "notes": MemoryKind.NOTE}
THERE, ELSEWHERE = "there already", "its conversation is there already"
FATES = {"facts": "active already", "episodes": ELSEWHERE, "messages": ELSEWHERE}
"""Outcome for a row that exists by other columns than its id, by table."""
KNOWN_BY = {"note_versions": ("note_id", "version"), "links": ("from_id", "to_id", "link_type")}
"""Columns that identify a row that is not a memory; the first is a reference."""
EPISODES_AT_ONCE = 50


def _are_free(tenant: Tenant, rows: Sequence[Row]) -> bool:
    """Return whether no other tenant has a row with one of these ids."""
    ids = [row["id"] for row in rows if "id" in row]
    return not any(
        table.across_tenants.filter(id__in=ids).exclude(tenant=tenant).exists()
        for table in (Memory, Message)
    )


@dataclass(slots=True)
class MemoryImport(FileImport):
    """Writes batches of rows, table by table, in one changeset."""

    keeps_ids: bool = True
    conversations: dict[str, Conversation] = field(default_factory=dict)
    """Conversations named by the rows of a batch."""
    ids: dict[uuid.UUID, uuid.UUID] = field(default_factory=dict)
    """Our ids for the ids in the rows."""
    replaced: list[tuple[uuid.UUID, str]] = field(default_factory=list)
    """Replaced facts, with the file's id of their replacement."""

    def run(self) -> None:
        if self.act is not None:
            self.keeps_ids = all(
                _are_free(self.tenant, rows) for _, rows in read_batches(self.path, at_once=AT_ONCE)
            )
        for table, rows in read_batches(self.path, at_once=AT_ONCE, watch=self.watch):
            try:
                with transaction.atomic():
                    changeset = self._restore(table, rows)
                self.changeset = changeset
            except (KeyError, TypeError, ValueError, ValidationError) as error:
                message = f"A line of {table} is not as `export_memory all` writes it."
                raise Problem(message) from error
            except (IntegrityError, DataError) as error:
                message = f"Lines of {table} contradict each other, or what is there."
                raise Problem(message) from error
            self.report(len(rows))
        if self.act is not None:
            self._finish()

    def _restore(self, table: str, rows: Sequence[Row]) -> Changeset | None:
        """Count the outcomes of rows, and write new ones; return the changeset."""
        self.conversations, self.ids = self._find_conversations(rows), self._find_ids(rows)
        fates = list(self._find_fates(table, rows))
        self.counts.update((table, fate) for fate in fates)
        new = [row for row, fate in zip(rows, fates, strict=True) if fate == NEW]
        if self.act is None:
            return None
        own: dict[uuid.UUID, uuid.UUID] = {}
        if table not in ANONYMOUS:
            names = [uuid.UUID(row["id"]) for row in new]
            own = {name: name if self.keeps_ids else make_id() for name in names}
        self.ids |= own
        if table == "facts":
            pairs = ((self._find_ours(row["id"]), row["superseded_by"]) for row in rows)
            self.replaced += [(fact_id, newer) for fact_id, newer in pairs if fact_id and newer]
        if not new:
            return self.changeset
        changeset = self.changeset or fact_imports.start_import(act=self.act, source=MEMORY)
        if table in {"messages", "notes", "note_versions"}:
            size = sum(len(json.dumps(row, ensure_ascii=False).encode()) for row in new)
            check_quota(self.tenant, more_rows=len(new), more_bytes=size)
        if table in KINDS:
            Memory.objects.bulk_create(
                Memory(id=row_id, tenant=self.tenant, kind=KINDS[table]) for row_id in own.values()
            )
        made = self._write(table, new, changeset)
        if table == "conversations":
            own = {conversation.external_id: conversation.id for conversation in made}
        named = [(row_id, source_id) for source_id, row_id in own.items()]
        fact_imports.note_imported(changeset, rows=named)
        return changeset

    def _find_conversations(self, rows: Sequence[Row]) -> dict[str, Conversation]:
        names = {row.get("conversation_id") or row.get("external_id") for row in rows}
        there = Conversation.objects.of(self.tenant).filter(external_id__in=filter(None, names))
        return {str(conversation.external_id): conversation for conversation in there}

    def _find_ids(self, rows: Sequence[Row]) -> dict[uuid.UUID, uuid.UUID]:
        """Return our ids for the ids in rows: of imported rows, or of rows that exist here."""
        ids = {uuid.UUID(row[name]) for row in rows for name in REFERENCES if row.get(name)}
        ids |= {uuid.UUID(entry["episode"]) for row in rows for entry in row.get("evidence", [])}
        there: dict[uuid.UUID, uuid.UUID] = {}
        for table in (Memory, Message):
            own = table.objects.of(self.tenant).filter(id__in=ids)
            there |= {row_id: row_id for row_id in own.values_list("id", flat=True)}
        return there | fact_imports.find_rows(tenant=self.tenant, source_ids=ids, source=MEMORY)

    def _find_ours(self, name: str) -> uuid.UUID | None:
        return self.ids.get(uuid.UUID(name))

    def _find_fates(self, table: str, rows: Sequence[Row]) -> Iterator[str]:
        for row, is_known in zip(rows, self._find_known(table, rows), strict=True):
            is_there = table not in ANONYMOUS and self._find_ours(row["id"])
            yield THERE if is_there else FATES.get(table, THERE) if is_known else NEW

    def _find_known(self, table: str, rows: Sequence[Row]) -> list[bool]:
        """Return whether each row exists already, by its identifying columns."""
        own: Any = OF_MEMORY[table].model.objects.of(self.tenant)
        homes = [row.get("conversation_id") for row in rows]
        if table == "conversations":
            return [row["external_id"] in self.conversations for row in rows]
        if table in {"messages", "episodes"}:
            names = list(map(uuid.UUID, self.conversations))
            brought = fact_imports.find_rows(tenant=self.tenant, source_ids=names, source=MEMORY)
            kept = {str(name) for name in names if name not in brought}
            return [home in kept for home in homes]
        if table == "facts":
            hashes = [content_hash(row["fact"]) for row in rows]
            active = own.filter(invalid_at=None, content_hash__in=hashes)
            there = set(active.values_list("conversation__external_id", "content_hash"))
            keys = zip(map(uuid.UUID, homes), hashes, strict=True)
            return [
                not row["invalid_at"] and key in there for row, key in zip(rows, keys, strict=True)
            ]
        columns = KNOWN_BY.get(table, ())
        paths = [OF_MEMORY[table].fields[name] for name in columns]
        ids = list(self.ids.values())
        there = set(own.filter(**{f"{paths[0]}__in": ids}).values_list(*paths)) if paths else set()
        return [
            tuple(
                self._find_ours(row[name]) if name in REFERENCES else row[name] for name in columns
            ) in there
            for row in rows
        ]  # fmt: skip

    def _write(self, table: str, rows: Sequence[Row], changeset: Changeset) -> list[Any]:
        """Write rows of one table, with derived data; return them."""
        made = [self._make(OF_MEMORY[table], row, changeset) for row in rows]
        OF_MEMORY[table].model.objects.bulk_create(made)
        if table == "messages":
            self._count_messages(rows)
        elif table == "facts":
            self._add_evidence(rows, made)
            self._index_facts(made)
        elif table == "notes":
            active = (note for note in made if note.deleted_at is None)
            places = sorted(active, key=lambda note: str(note.conversation_id))
            for _, some in groupby(places, key=lambda note: note.conversation_id):
                notes.index_notes(list(some))
        return made

    def _make(self, export: export_tables.Export, line: Row, changeset: Changeset) -> Any:
        """Return an unsaved row from a line, with our ids in its references."""
        values: dict[str, Any] = {"tenant": self.tenant}
        for name, path in export.fields.items():
            if path == "conversation__external_id":
                values["conversation"] = self.conversations[line[name]] if line[name] else None
            elif "__" not in path and name in line:
                column: Any = export.model._meta.get_field(path)
                value = column.to_python(line[name])
                is_reference = name in REFERENCES and value is not None
                values[column.attname] = self.ids.get(value) if is_reference else value
        row = export.model(**values)
        if isinstance(row, Conversation):
            row.erased_count = row.next_seq - 1  # until its messages come
        elif isinstance(row, Message):
            row.token_sizes, row.pending_after = measure(clean(row.content)), 0
        elif isinstance(row, Note):
            row.token_sizes = measure(clean_block(row.content))
        elif isinstance(row, Fact):
            row.content_hash, row.changeset = content_hash(row.fact), changeset
            row.superseded_by = None  # until all facts are there
        return row

    def _count_messages(self, rows: Sequence[Row]) -> None:
        by_home = Counter(row["conversation_id"] for row in rows)
        waiting = Counter(row["conversation_id"] for row in rows if not row["episode_id"])
        for name, count in by_home.items():
            Conversation.objects.of(self.tenant).filter(id=self.conversations[name].id).update(
                pending_count=F("pending_count") + waiting[name],
                erased_count=F("erased_count") - count,
            )

    def _add_evidence(self, rows: Sequence[Row], facts: Sequence[Fact]) -> None:
        evidence = []
        for row, fact in zip(rows, facts, strict=True):
            common = {"tenant": self.tenant, "changeset": fact.changeset, "fact": fact}
            for entry in row["evidence"]:
                episode = self._find_ours(entry["episode"])
                if episode is not None:
                    seqs = entry["messages"]
                    evidence.append(Evidence(**common, episode_id=episode, message_seqs=seqs))
        episodes = Episode.objects.of(self.tenant).filter(
            id__in=[row.episode_id for row in evidence]
        )
        homes = dict(episodes.values_list("id", "conversation_id"))
        for entry in evidence:
            home = homes[entry.episode_id]
            entry.conversation_id = None if home == entry.fact.conversation_id else home
        Evidence.objects.bulk_create(evidence)

    def _index_facts(self, facts: list[Fact]) -> None:
        facts.sort(key=lambda fact: fact.conversation_id)
        for _, some in groupby(facts, key=lambda fact: fact.conversation_id):
            of_home: dict[Fact, Vectors | None] = dict.fromkeys(some)
            semantic.index_facts(of_home, next(iter(of_home)).conversation)
        marks = [(fact.id, fact.valid_until, fact.invalid_at) for fact in facts if fact.invalid_at]
        index.mark_memories(tenant=self.tenant, marks=marks)
        place_copies(self.tenant, [fact.id for fact in facts])

    def _finish(self) -> None:
        """Write data that depends on rows of several batches, also of interrupted runs."""
        closed = Fact.objects.of(self.tenant).filter(superseded_by=None, invalid_at__isnull=False)
        for pairs in in_batches(self.replaced):
            wanted = {uuid.UUID(newer) for _, newer in pairs}
            ids = fact_imports.find_rows(tenant=self.tenant, source_ids=wanted, source=MEMORY)
            facts = closed.in_bulk([fact_id for fact_id, _ in pairs])
            for fact_id, newer in pairs:
                if fact_id in facts:
                    facts[fact_id].superseded_by_id = ids.get(uuid.UUID(newer))
            Fact.objects.of(self.tenant).bulk_update(facts.values(), ["superseded_by"])
        brought = fact_imports.find_imported(self.tenant, MEMORY).values("memory_id")
        units = SearchUnit.objects.of(self.tenant).filter(memory=OuterRef("id"))
        episodes = Episode.objects.of(self.tenant).filter(~Exists(units), id__in=brought)
        missing = episodes.order_by("conversation_id", "id").values_list("id", flat=True)
        for some in in_batches(list(missing), size=EPISODES_AT_ONCE):
            self._index(some)
        waiting = Conversation.objects.of(self.tenant).filter(id__in=brought, pending_count__gt=0)
        for conversation in waiting.order_by("id"):
            with transaction.atomic():
                episodic.request_segmentation_if_due(conversation)

    def _index(self, ids: Sequence[uuid.UUID]) -> None:
        rows = Episode.objects.of(self.tenant).filter(id__in=ids).select_for_update()
        messages = queries.messages_of_episodes(tenant=self.tenant, episode_ids=ids)
        with transaction.atomic():
            episodes = rows.order_by("conversation_id", "id")
            for home, some in groupby(episodes, key=lambda episode: episode.conversation_id):
                conversation = queries.get_conversation(tenant=self.tenant, conversation_id=home)
                make = episode_index.PlannedEpisode
                plans = [make(episode, messages[episode.id]) for episode in some]
                episode_index.index_episodes(plans, conversation)
