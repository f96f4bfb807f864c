"""Writes the index: all text becomes searchable through here."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from django.conf import settings

from indexing import pieces, text
from indexing.erasing import erase_entries
from indexing.models import Memory, MemoryKind, Searchable, SearchUnit, SearchVector, UnitKind
from indexing.owners import scope_of
from jobs.enqueue import enqueue
from jobs.models import Kind
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Vectors
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.database.clock import execute
from memoryproject.database.vectors import HalfVector
from memoryproject.tenancy.models import Tenant

NARROWING = [field.attname for field in Searchable._meta.local_fields if field.name != "id"]
"""Columns that a vector copies from its unit."""
SAME = "memory kind category valid_at valid_until first_seq last_seq language".split()
"""Columns that a unit copies from its entry."""
MARK = """
    UPDATE {table} AS entry SET valid_until = mark.valid_until, invalid_at = mark.invalid_at
    FROM unnest(%(memories)s::uuid[], %(untils)s::timestamptz[], %(invalids)s::timestamptz[])
        AS mark (memory_id, valid_until, invalid_at)
    WHERE entry.tenant_id = %(tenant)s AND entry.memory_id = mark.memory_id
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A text to make searchable.

    `lexical` is for keyword search, and `vector` (a unit vector, or None if a job is to make it)
    for search by meaning; the two may represent different text. `neighbours`, nearest first, are
    added to the keyword text as far as they fit into one unit.
    """

    memory: Memory
    kind: UnitKind
    lexical: str
    vector: Vectors | None
    language: str
    valid_at: datetime
    category: str = ""
    first_seq: int | None = None
    last_seq: int | None = None
    neighbours: Sequence[str] = ()
    valid_until: datetime | None = None
    user_id: str | None = None
    """Its user; None: the user given for all entries of the call."""
    states: bytes | None = None
    """Token states of the text of its vector; see `SearchVector`."""


def try_embed(texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vectors | None]:
    """Return the vector of each text, or None for each if the model is unavailable."""
    try:
        return list(embeddings.embed_passages(texts, timeout_s=timeout_s))
    except (ModelUnavailable, ModelMisbehaved):
        return [None] * len(texts)


def register(*, tenant: Tenant, kind: MemoryKind, count: int) -> list[Memory]:
    """Insert `count` memories of a kind; the caller then inserts the rows that share their ids."""
    return Memory.objects.bulk_create(Memory(tenant=tenant, kind=kind) for _ in range(count))


def add_entries(
    *,
    tenant: Tenant,
    conversation_id: uuid.UUID | None,
    entries: Sequence[Entry],
    model: str = "",
    user_id: str = "",
) -> None:
    """Insert units and vectors, by two statements in all.

    Without a conversation they belong to the whole tenant. `user_id`: the user in whose scope they
    are found; empty: nobody's. `model`: the embedder of the entries' vectors; empty: this process's
    own. A job makes missing vectors and, during a model change, those of the other model. A text
    too long for one unit gets several; the first one has the vector.
    """
    units: list[SearchUnit] = []
    vectors: list[SearchVector] = []
    prepare = cache(text.prepare)  # a message is a neighbor of four others
    for entry in entries:
        own = prepare(entry.lexical)
        cut = pieces.cut(own, neighbours=[prepare(neighbour) for neighbour in entry.neighbours])
        parts = [
            SearchUnit(
                tenant=tenant,
                conversation_id=conversation_id,
                user_scope=scope_of(tenant.id, user_id if entry.user_id is None else entry.user_id),
                shelf=entry.memory.kind,
                **{name: getattr(entry, name) for name in SAME},
                lexical_text=piece,
                own_words=len(own.split()) if entry.neighbours and len(cut) == 1 else None,
            )
            for piece in cut
        ]
        units += parts
        if entry.vector is not None:
            made_by = model or embeddings.get_embedder().name
            vectors.append(_make_vector(parts[0], entry.vector, entry.states, model=made_by))
    SearchUnit.objects.bulk_create(units)
    SearchVector.objects.bulk_create(vectors)
    if any(entry.vector is None for entry in entries) or len(embeddings.get_embedders()) > 1:
        enqueue(tenant=tenant, kind=Kind.EMBED, scope=conversation_id or tenant.id)
    changed = {entry.memory.id for entry in entries}
    tell_mirror(tenant=tenant, conversation_id=conversation_id, memory_ids=changed)


def add_vectors(
    *,
    tenant: Tenant,
    units: Sequence[SearchUnit],
    vectors: Vectors,
    states: Sequence[bytes | None],
    model: str,
) -> None:
    """Insert vectors for units that had none of this model, or no states, one row each.

    A vector that exists by now stays, and gets these states; a deleted unit gets none.
    """
    stored = SearchUnit.objects.of(tenant).filter(id__in=[unit.id for unit in units])
    there = set(stored.select_for_update(no_key=True).values_list("id", flat=True))
    rows = [
        _make_vector(unit, vector, packed, model=model)
        for unit, vector, packed in zip(units, vectors, states, strict=True)
        if unit.id in there
    ]
    SearchVector.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["tenant", "unit", "model"],
        update_fields=["states"],
    )


def remove_entries(*, tenant: Tenant, memory_id: uuid.UUID) -> None:
    """Delete all units and vectors of a memory, so nothing finds it. Needs a transaction."""
    tell_mirror_of(tenant=tenant, memory_id=memory_id)
    erase_entries(tenant=tenant, memory_ids=[memory_id])


def _make_vector(
    unit: SearchUnit, vector: Vectors, states: bytes | None, *, model: str
) -> SearchVector:
    """Return the row, with the filter columns of its unit."""
    same = {name: getattr(unit, name) for name in NARROWING}
    made = {"model": model, "dim": len(vector), "embedding": HalfVector(vector), "states": states}
    return SearchVector(unit=unit, **made, **same)


Mark = tuple[uuid.UUID, datetime | None, datetime | None]
"""A memory, and until when it was true and believed; None: it still is."""


def mark_memories(*, tenant: Tenant, marks: Sequence[Mark]) -> None:
    """Mark memories as no longer believed, or as believed again; `as_of` finds them by their times.

    Takes two statements in all.
    """
    params: dict[str, Any] = {
        "tenant": tenant.id,
        "memories": [memory_id for memory_id, _, _ in marks],
        "untils": [valid_until for _, valid_until, _ in marks],
        "invalids": [invalid_at for _, _, invalid_at in marks],
    }
    for table in (SearchUnit, SearchVector):
        execute(MARK.format(table=table._meta.db_table), params)


def tell_mirror(
    *, tenant: Tenant, conversation_id: uuid.UUID | None, memory_ids: Iterable[uuid.UUID]
) -> None:
    """Queue the rewriting of the mirror pages of some memories of one conversation, or of none.

    One job takes all that waits. Nothing happens where nothing is mirrored.
    """
    changed = {str(memory_id): True for memory_id in memory_ids}
    if settings.MIRROR_DIR is not None and changed:
        scope = conversation_id or tenant.id
        enqueue(tenant=tenant, kind=Kind.MIRROR, scope=scope, input=changed)


def tell_mirror_of(*, tenant: Tenant, memory_id: uuid.UUID) -> None:
    """Do as `tell_mirror` for an indexed memory."""
    if settings.MIRROR_DIR is not None:
        units = SearchUnit.objects.of(tenant).filter(memory_id=memory_id)
        home = units.values_list("conversation_id", flat=True).first()
        tell_mirror(tenant=tenant, conversation_id=home, memory_ids=[memory_id])
