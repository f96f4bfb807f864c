"""Imports another system's export: counted first, then written as one changeset.

Every record goes through the usual service for its kind. The changeset has each row with its source
record, so that a second run recognizes it, even if the row was erased since. `wings.erasure.parts`
undoes it.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import transaction

from episodic import services as episodic
from episodic.models import Conversation, Message
from episodic.queries import database_now
from indexing.kinds import SourceType
from memoryproject.ai.embeddings import read_built_in
from memoryproject.edge.errors import Problem
from memoryproject.edge.fields import NAME_AT_MOST, count_bytes
from memoryproject.edge.http import UNSTORABLE
from memoryproject.edge.json_files import Watch, ignore
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.quotas import check_quota
from semantic.curation import KEYWORDS_AT_MOST, Act
from semantic.keywords import pick_keywords
from semantic.models import Changeset
from semantic.offline.categories import classify_fact
from semantic.queries import content_hash
from wings.notes import services as notes
from wings.notes.forms import ID_AT_MOST, LABEL_AT_MOST, TAGS_AT_MOST, WORD_AT_MOST
from wings.transfer import fact_imports
from wings.transfer.fact_imports import Fate
from wings.transfer.file_imports import FileImport
from wings.transfer.file_rows import Row
from wings.transfer.loading import to_uuid
from wings.transfer.peer_files import SOURCES, Kind, Record, read_langmem
from wings.transfer.row_files import read_elements

AT_ONCE = 200
"""Number of records per transaction."""
CONVERSATIONS_SHOWN = FAULTS_SHOWN = 20
NEW = "new"
LANGMEM = "langmem"
ODD = "not as the source writes it"
FATES = {Fate.NEW: NEW, Fate.HELD: "active already", Fate.WRONG: "declared wrong"}
Named = Iterator[tuple[uuid.UUID, uuid.UUID]]
"""Ids of rows, each with the id of its source record."""


class OddElement(NamedTuple):
    """An element of a file that is not in its source's format, by its place."""

    place: str


def read_records(
    path: Path, *, source: str, namespace: str = "", watch: Watch = ignore
) -> Iterator[Record | OddElement]:
    """Yield the records of a file, in order, with one element in memory at a time.

    `namespace` as in `peer_files.read_langmem`; empty: LangMem's default.

    Raises:
        OSError: the file cannot be read.
        Problem: it is not JSON, or nothing in it is in the source's format.
    """
    reader, keys = SOURCES[source]
    if source == LANGMEM and namespace:
        reader = partial(read_langmem, namespace=namespace)
    ids = to_uuid(f"records of {source}")
    first_odd = ""
    is_read = False
    for place, row in read_elements(path, keys=keys, watch=watch):
        try:
            records = list(reader(row))
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            first_odd = first_odd or place
            yield OddElement(place)
            continue
        is_read = True
        for record in records:
            name = f"{record.conversation} {record.identity or record.source_id}"
            record.id, record.place = uuid.uuid5(ids, name), place
            yield record
    if first_odd and not is_read:
        raise Problem(f"The file is not an export of {source}: see {first_odd}.")


@dataclass(slots=True)
class PeerImport(FileImport):
    """Imports records not imported before; a run is one changeset.

    `user_id` is the owner if the file names none; `namespace` as in `read_records`.
    """

    user_id: str = ""
    namespace: str = ""
    seen: set[int] = field(default_factory=set)
    """Hashes of the records read so far: for a million records, smaller than their ids."""

    def run(self) -> None:
        for new in self.list_new():
            if self.act is not None and new:
                self.write(new, self.act)

    def list_new(self) -> Iterator[list[Record]]:
        """Yield the new records of the file, some at a time; raises as `run` when it reads."""
        read = read_records(
            self.path, source=self.source, namespace=self.namespace, watch=self.watch
        )
        records = self._leave_out_odd(read)
        while batch := list(islice(records, AT_ONCE)):
            yield list(self.choose_new(batch))
            self.report(len(batch))

    def write(self, new: Sequence[Record], act: Act) -> None:
        """Write records that `choose_new` has yielded, in the import's changeset."""
        with transaction.atomic():
            changeset = self.changeset or fact_imports.start_import(act=act, source=self.source)
            self._write(new, act, changeset)
        self.changeset = changeset

    def _leave_out_odd(self, read: Iterator[Record | OddElement]) -> Iterator[Record]:
        for record in read:
            if isinstance(record, OddElement):
                self.counts["element", ODD] += 1
                self._note_fault(record.place, f"This is not as {self.source} writes it.")
            else:
                record.user_id = record.user_id or self.user_id
                yield record

    def _note_fault(self, place: str, fault: str) -> None:
        if len(self.faults) < FAULTS_SHOWN:
            self.faults.append(f"{place}: {fault}")

    def choose_new(self, batch: Sequence[Record]) -> Iterator[Record]:
        """Yield the new records of a batch, in order; count the outcome of every record."""
        known = fact_imports.find_rows(
            tenant=self.tenant, source_ids=[record.id for record in batch]
        )
        facts = [record for record in batch if record.kind is Kind.FACT and not _find_fault(record)]
        survey = fact_imports.survey(tenant=self.tenant, rows=list(map(_to_row, facts)))
        fates = {fact.id: FATES[fate] for fact, fate in zip(facts, survey.fates, strict=True)}
        for record in batch:
            is_fact = record.kind is Kind.FACT
            same = {hash(record.id)}
            if is_fact:
                same.add(hash((record.home, content_hash(record.text))))
            if fault := _find_fault(record):
                self._note_fault(record.place, fault)
            fate = fault or fates.get(record.id, NEW)
            if record.id in known:
                fate = "imported before"
            elif not self.seen.isdisjoint(same):
                fate = "twice in the file"
            self.counts[record.kind.value, fate] += 1
            if fate == NEW:
                self.seen |= same
                self.lost.update(record.lost)
                self.owners["user", record.user_id] += 1
                if record.agent_id:
                    self.owners["agent", record.agent_id] += 1
                if record.home and len(self.homes) < CONVERSATIONS_SHOWN:
                    self.homes[record.conversation] = record.home
                yield record

    def _write(self, records: Sequence[Record], act: Act, changeset: Changeset) -> None:
        """Write new records, messages in the file's order; record their sources."""
        homes = Conversation.objects.of(self.tenant).filter(
            external_id__in={record.home for record in records}
        )
        there, now = list(homes.values_list("external_id", flat=True)), database_now()
        _name_owners(act.tenant, records)
        by_kind = {kind: [record for record in records if record.kind is kind] for kind in Kind}
        rows = [
            named
            for _, some in groupby(by_kind[Kind.MESSAGE], key=lambda record: record.home)
            for named in self._write_messages(list(some), now)
        ]
        rows += [(_write_note(record, act), record.id) for record in by_kind[Kind.NOTE]]
        facts = list(map(_to_row, by_kind[Kind.FACT]))
        vectors = [None] * len(facts)
        fact_imports.import_rows(act=act, rows=facts, vectors=vectors, goes_on=changeset.id)
        rows += homes.exclude(external_id__in=there).values_list("id", "external_id")
        fact_imports.note_imported(changeset, rows=rows)

    def _write_messages(self, records: Sequence[Record], now: datetime) -> Named:
        new = [
            Message(
                role=record.role,
                content=record.text,
                occurred_at=record.at or now,
                name=record.name,
                metadata={
                    **record.metadata,
                    "source": self.source,
                    "source_id": record.source_id[:ID_AT_MOST],
                },
            )
            for record in records
        ]
        size = sum(map(episodic.count_message_bytes, new))
        check_quota(self.tenant, more_rows=len(new), more_bytes=size)
        home = records[0].home or to_uuid(self.source)
        posted = episodic.add_messages(
            tenant=self.tenant, posted_by=None, external_id=home, messages=new
        )
        for message, record in zip(posted.messages, records, strict=True):
            yield message.id, record.id


def _name_owners(tenant: Tenant, records: Sequence[Record]) -> None:
    """Create the records' conversations with their owners, in the common lock order.

    Raises:
        Conflict: one of them is another user's or agent's.
    """
    owners = {record.home: record for record in records if record.home}
    for home, record in sorted(owners.items()):
        conversation = episodic.lock_or_make(
            tenant=tenant, external_id=home, user_id=record.user_id
        )
        episodic.name_owner(conversation, user_id=record.user_id, agent_id=record.agent_id)


def _find_fault(record: Record) -> str:
    """Return why a record cannot be stored; empty if it can."""
    if not record.text.strip():
        return "no text"
    names = (record.user_id, record.agent_id)
    if UNSTORABLE.search("".join([record.text, record.name, record.label, *names])):
        return "characters that cannot be stored"
    if max(map(len, names)) > NAME_AT_MOST:
        return f"a user or agent over {NAME_AT_MOST} characters"
    is_message = record.kind is Kind.MESSAGE
    cap = settings.MAX_MESSAGE_BYTES if is_message else settings.MAX_CONTENT_BYTES
    if len(record.text.encode()) > cap:
        return f"longer than {cap // 1024} KiB"
    is_kept = record.kind is not Kind.FACT
    if is_kept and count_bytes(record.metadata) > settings.MAX_METADATA_BYTES // 2:
        return "too much metadata"
    return ""


def _to_row(record: Record) -> Row:
    words = [word[:WORD_AT_MOST] for word in record.words][:KEYWORDS_AT_MOST]
    until = max(record.until, record.at or record.until) if record.until else None
    assert record.home is not None
    return Row(
        conversation=record.home,
        category=classify_fact(record.text, read=read_built_in),
        fact=record.text.strip(),
        keywords=tuple(words) or pick_keywords(record.text, speaker=""),
        valid_at=record.at or until,
        valid_until=until,
        support={},
        source=record.id,
    )


def _write_note(record: Record, act: Act) -> uuid.UUID:
    note, _ = notes.add_note(
        tenant=act.tenant,
        actor=act.actor,
        made_by=None,
        conversation_id=record.home,
        fields={
            "source_type": SourceType.NOTE.value,
            "source_id": record.source_id[:ID_AT_MOST],
            "user_id": record.user_id,
            "label": record.label[:LABEL_AT_MOST],
            "content": record.text,
            "tags": [word[:WORD_AT_MOST] for word in record.words][:TAGS_AT_MOST],
            "metadata": dict(record.metadata),
            "occurred_at": record.at,
        },
    )
    return note.id
