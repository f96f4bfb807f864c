"""Imports what another system has exported: counted first, then written as one changeset.

Every record goes through the service by which its like is written otherwise. The changeset
names each row with the record that it came from, by which a second run knows it: also when
the row was erased since. `erasure.imports` undoes it.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from console.transfer.peer_files import Kind, Record, read_records
from episodic import services as episodic
from episodic.loading import to_uuid
from episodic.models import Conversation
from episodic.queries import database_now
from episodic.services import NewMessage
from memoryproject.edge.fields import count_bytes
from memoryproject.edge.http import UNSTORABLE
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.quotas import check_quota
from notes import services as notes
from notes.forms import ID_AT_MOST, LABEL_AT_MOST, TAGS_AT_MOST, WORD_AT_MOST
from notes.kinds import SourceType
from semantic import fact_imports
from semantic.curation import KEYWORDS_AT_MOST, SENTENCE_AT_MOST, Act
from semantic.fact_imports import Fate
from semantic.file_rows import Row
from semantic.keywords import pick_keywords
from semantic.models import Changeset
from semantic.offline.categories import classify_fact
from semantic.queries import content_hash

AT_ONCE = 200
"""Records a transaction."""
CONVERSATIONS_SHOWN = 20
NEW = "new"
FATES = {Fate.HELD: "active already", Fate.WRONG: "declared wrong"}


@dataclass(frozen=True, slots=True)
class Item:
    """A record under our ids. `home` None: it belongs to no conversation."""

    record: Record
    kind: Kind
    source_id: uuid.UUID
    home: uuid.UUID | None


@dataclass(slots=True)
class Outcome:
    """What became, or would become, of the records of a file.

    `counts` by kind and fate; `lost` counts the fields that we have no place for; `homes` are
    the first conversations, by the source's name of them.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    homes: dict[str, uuid.UUID] = field(default_factory=dict)
    changeset: Changeset | None = None

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def import_peer(
    outcome: Outcome,
    *,
    tenant: Tenant,
    path: Path,
    source: str,
    act: Act | None,
    report: Callable[[int], object],
) -> None:
    """Import a file, or with no act only say what an import would do; `report` gets numbers.

    `outcome` is filled meanwhile. A run that was broken off leaves a changeset of what it has
    written; the next one writes the rest, as another. Nothing is written of a record that the
    source has brought before.

    Raises:
        OSError, Problem: the file cannot be read, or is none of the source's.
        OverQuota: the tenant may not store so much; what came before is written.
    """
    seen = set[object]()
    records = read_records(path, source=source)
    while batch := list(islice(records, AT_ONCE)):
        new = list(_choose_new(batch, tenant, source, outcome, seen))
        if act is not None and new:
            with transaction.atomic():
                changeset = outcome.changeset or fact_imports.start_import(act=act, source=source)
                _write(new, act=act, changeset=changeset)
            outcome.changeset = changeset
        report(len(batch))


def _choose_new(
    batch: Sequence[Record], tenant: Tenant, source: str, outcome: Outcome, seen: set[object]
) -> Iterator[Item]:
    """Yield what is new of a batch, in order; count what becomes of every record."""
    items = [_make_item(record, source) for record in batch]
    known = fact_imports.find_imported(tenant=tenant, source_ids=[item.source_id for item in items])
    facts = [item for item in items if item.kind is Kind.FACT and not _find_fault(item)]
    rows = list(map(_to_row, facts))
    survey = fact_imports.survey(tenant=tenant, rows=rows)
    fates = {item.source_id: fate for item, fate in zip(facts, survey.fates, strict=True)}
    for item in items:
        is_fact = item.kind is Kind.FACT
        same: object = (item.home, content_hash(item.record.text)) if is_fact else item.source_id
        fate = _find_fault(item) or NEW
        if item.source_id in known:
            fate = "imported before"
        elif item.source_id in seen or same in seen:
            fate = "twice in the file"
        elif fates.get(item.source_id, Fate.NEW) is not Fate.NEW:
            fate = FATES[fates[item.source_id]]
        seen |= {item.source_id, same} if fate == NEW else set()
        outcome.counts[item.kind.value, fate] += 1
        if fate == NEW:
            outcome.lost.update(item.record.lost if item.kind is not Kind.NOTE else ())
            if item.home and len(outcome.homes) < CONVERSATIONS_SHOWN:
                outcome.homes[item.record.conversation] = item.home
            yield item


def _make_item(record: Record, source: str) -> Item:
    """Return a record under our ids; a fact too long for one sentence becomes a note."""
    kind, name = record.kind, record.identity or record.source_id
    if kind is Kind.FACT and len(record.text) > SENTENCE_AT_MOST:
        kind = Kind.NOTE
    source_id = uuid.uuid5(_namespace(source), f"{record.conversation} {name}")
    return Item(
        record, kind, source_id, to_uuid(record.conversation) if record.conversation else None
    )


def _namespace(source: str) -> uuid.UUID:
    return to_uuid(f"records of {source}")


def _find_fault(item: Item) -> str:
    """Return why a record cannot be stored; empty: it can."""
    record = item.record
    texts = record.text + record.name + record.label
    if not record.text.strip():
        return "no text"
    if UNSTORABLE.search(texts):
        return "characters that cannot be stored"
    if len(record.text.encode()) > settings.MAX_CONTENT_BYTES:
        return "longer than 64 KiB"
    is_kept = item.kind is not Kind.FACT
    if is_kept and count_bytes(record.metadata) > settings.MAX_METADATA_BYTES // 2:
        return "too much metadata"
    return ""


def _to_row(item: Item) -> Row:
    record = item.record
    words = [word[:WORD_AT_MOST] for word in record.words][:KEYWORDS_AT_MOST]
    until = max(record.until, record.at or record.until) if record.until else None
    assert item.home is not None
    return Row(
        conversation=item.home,
        category=classify_fact(record.text, []),
        fact=record.text.strip(),
        keywords=tuple(words) or pick_keywords(record.text, speaker=""),
        valid_at=record.at or until,
        valid_until=until,
        support={},
        source=item.source_id,
    )


def _write(items: Sequence[Item], *, act: Act, changeset: Changeset) -> None:
    """Write new records, messages of a conversation in the file's order; name them as imported."""
    now, rows = database_now(), list[tuple[uuid.UUID, uuid.UUID]]()
    homes = Conversation.objects.of(act.tenant).filter(
        external_id__in={item.home for item in items}
    )
    there = list(homes.values_list("external_id", flat=True))
    messages = (item for item in items if item.kind is Kind.MESSAGE)
    for home, some in groupby(messages, key=lambda item: item.home):
        rows += _write_messages(home, list(some), act.tenant, changeset.engine, now)
    rows += [(_write_note(item, act), item.source_id) for item in items if item.kind is Kind.NOTE]
    facts = [_to_row(item) for item in items if item.kind is Kind.FACT]
    vectors = [None] * len(facts)
    fact_imports.import_rows(act=act, rows=facts, vectors=vectors, goes_on=changeset.id)
    rows += homes.exclude(external_id__in=there).values_list("id", "external_id")
    fact_imports.note_imported(changeset, rows=rows)


def _write_messages(
    home: uuid.UUID | None, items: Sequence[Item], tenant: Tenant, source: str, now: datetime
) -> Iterator[tuple[uuid.UUID, uuid.UUID]]:
    new = [
        NewMessage(
            role=item.record.role,
            content=item.record.text,
            occurred_at=item.record.at or now,
            name=item.record.name,
            metadata={
                **item.record.metadata,
                "source": source,
                "source_id": item.record.source_id[:ID_AT_MOST],
            },
        )
        for item in items
    ]
    check_quota(tenant, more_rows=len(new), more_bytes=sum(message.byte_count for message in new))
    posted = episodic.add_messages(
        tenant=tenant, posted_by=None, external_id=home or to_uuid(source), messages=new
    )
    yield from zip(
        (message.id for message in posted.messages),
        (item.source_id for item in items),
        strict=True,
    )


def _write_note(item: Item, act: Act) -> uuid.UUID:
    record = item.record
    fields: dict[str, Any] = {
        "source_type": SourceType.NOTE.value,
        "source_id": record.source_id[:ID_AT_MOST],
        "user_id": record.user_id[:ID_AT_MOST],
        "label": record.label[:LABEL_AT_MOST],
        "content": record.text,
        "tags": [word[:WORD_AT_MOST] for word in record.words][:TAGS_AT_MOST],
        "metadata": dict(record.metadata),
        "occurred_at": record.at,
    }
    note, _ = notes.add_note(
        tenant=act.tenant,
        actor=act.actor,
        made_by=None,
        fields=fields,
        conversation_id=item.home,
    )
    return note.id
