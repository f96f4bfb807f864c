"""Stores, changes, deletes and restores notes; each change is a version, indexed anew.

Vectors are made before the transaction, so that nothing waits for a model under a lock.
Where the model is away, or the text is long, a job makes them; words find the note until then.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from episodic.erased_keys import refuse_erased_key
from episodic.queries import database_now
from episodic.services import IdempotencyKey, lock_or_make
from indexing import services as index
from indexing.detection import detect_language
from indexing.models import Memory, MemoryKind, UnitKind
from indexing.services import Entry
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Vectors
from memoryproject.edge.errors import Conflict, NotFound, Problem, get_row
from memoryproject.edge.fields import count_bytes
from memoryproject.tenancy.models import APIKey, Tenant
from memoryproject.tenancy.quotas import check_quota
from memoryproject.text.cleaning import clean_block
from memoryproject.text.tokens import measure
from notes import wording
from notes.models import Note, NoteState, NoteVersion
from notes.queries import active_notes, passages_of
from notes.wording import Passage

EMBEDDING_TIMEOUT_S = 5.0
"""Of an endpoint: an agent waits for the answer, and a job can make the vectors, too."""
KEPT = [
    field.attname
    for field in NoteVersion._meta.local_fields
    if field.name not in {"id", "tenant", "note", "replaced_at"}
]
"""The columns that a version keeps."""


def get_note(*, tenant: Tenant, note_id: uuid.UUID) -> Note:
    """Return a note that was not deleted, with its conversation.

    Raises:
        NotFound: the tenant has none.
    """
    rows = active_notes(tenant=tenant).select_related("conversation")
    note = get_row(rows, "note", id=note_id)
    note.tenant = tenant
    return note


def add_note(
    *,
    tenant: Tenant,
    actor: str,
    made_by: APIKey | None,
    fields: Mapping[str, Any],
    conversation_id: uuid.UUID | None = None,
    idempotency: IdempotencyKey | None = None,
    embed_now: bool = True,
) -> tuple[Note, NoteState | None]:
    """Store a note, and make it findable.

    Where an earlier request stored it, its first version comes with it.

    `fields` are columns of a note by name, checked; label, description and content that
    are not given follow from the others. `conversation_id` is the agent's own; the
    conversation is made if there is none. Without `embed_now` a job makes the vectors.

    Raises:
        Conflict: the idempotency key was used for another body.
        Gone: what was posted under the key was erased.
        OverQuota: the tenant may not store so much.
        Problem: there is no content, and nothing that it could follow from.
    """
    stored = _find_earlier(tenant, idempotency)
    if stored is not None:
        return stored
    note = Note(tenant=tenant, made_by=made_by, actor=actor, **_complete(fields))
    if idempotency is not None:
        note.client_key, note.body_sha256 = idempotency.key, idempotency.body_sha256
    try:
        _insert(note, conversation_id, embed_now=embed_now)
    except IntegrityError:  # the same request, at the same moment
        stored = _find_earlier(tenant, idempotency)
        if stored is None:
            raise
        return stored
    return note, None


def _insert(note: Note, conversation_id: uuid.UUID | None, *, embed_now: bool) -> None:
    """Write a new note and what finds it, in one transaction."""
    _check_quota(note)
    parts, vectors = _embed(note, at_once=embed_now)
    note.token_sizes = measure(clean_block(note.content))
    with transaction.atomic():
        note.created_at = note.updated_at = database_now()
        note.occurred_at = note.occurred_at or note.created_at
        if conversation_id is not None:
            note.conversation = lock_or_make(tenant=note.tenant, external_id=conversation_id)
        (memory,) = index.register(tenant=note.tenant, kind=MemoryKind.NOTE, count=1)
        note.id = memory.id
        note.save(force_insert=True)
        _fill_index(note, parts, vectors)


def _find_earlier(
    tenant: Tenant, idempotency: IdempotencyKey | None
) -> tuple[Note, NoteState] | None:
    """Return what an earlier request under the same key stored, as it was then."""
    if idempotency is None:
        return None
    refuse_erased_key(tenant=tenant, place=tenant.id, key=idempotency.key)
    rows = Note.objects.of(tenant).filter(client_key=idempotency.key)
    note = rows.select_related("conversation").first()
    if note is None:
        return None
    if note.body_sha256 != idempotency.body_sha256:
        raise Conflict("This Idempotency-Key was used for another request.")
    first = NoteVersion.objects.of(tenant).filter(note=note, version=1).first()
    return note, first or note


def change_note(
    *, tenant: Tenant, actor: str, note_id: uuid.UUID, version: int, fields: Mapping[str, Any]
) -> Note:
    """Write a new version of a note, and keep the one that it replaces.

    A text that followed from the metadata follows from the new ones. None for a text or for
    `occurred_at`: as if it had never been given. Where nothing changes, nothing is written.

    Raises:
        NotFound: the tenant has no such note.
        Conflict: `version` is not its current one.
        OverQuota: the tenant may not store so much.
        Problem: nothing would be left of its content.
    """
    note = get_note(tenant=tenant, note_id=note_id)
    _check_version(note, version)
    before = NoteVersion(note=note, **{name: getattr(note, name) for name in KEPT})
    for name, value in _follow(note, fields).items():
        setattr(note, name, value)
    if all(getattr(note, name) == getattr(before, name) for name in KEPT):
        return note
    _check_quota(note)
    parts, vectors = _embed(note)
    note.token_sizes = measure(clean_block(note.content))
    with transaction.atomic():
        rows = active_notes(tenant=tenant).select_for_update()
        _check_version(get_row(rows, "note", id=note.id), version)
        note.version, note.actor, note.updated_at = version + 1, actor, database_now()
        before.tenant, before.replaced_at = tenant, note.updated_at
        before.save(force_insert=True)
        note.save(update_fields=[*KEPT, "token_sizes"])
        index.remove_entries(tenant=tenant, memory_id=note.id)
        _fill_index(note, parts, vectors)
    return note


def delete_note(*, tenant: Tenant, actor: str, note_id: uuid.UUID) -> None:
    """Take a note away: nothing finds or shows it. Its text stays until it is erased.

    Raises:
        NotFound: the tenant has no such note, any more.
    """
    with transaction.atomic():
        active = active_notes(tenant=tenant).filter(id=note_id)
        if active.update(deleted_at=database_now(), deleted_by=actor) != 1:
            raise NotFound("There is no such note.")
        index.remove_entries(tenant=tenant, memory_id=note_id)


def restore_note(*, tenant: Tenant, note_id: uuid.UUID) -> Note:
    """Restore a deleted note: it is found, shown and linked as before.

    Raises:
        NotFound: the tenant has no such note that was deleted, any more.
    """
    deleted = Note.objects.of(tenant).filter(id=note_id, deleted_at__isnull=False)
    note = get_row(deleted.select_related("conversation"), "note")
    note.tenant = tenant
    parts, vectors = _embed(note)
    with transaction.atomic():
        # What has been erased or restored in between must not get into the index.
        same = deleted.filter(version=note.version, updated_at=note.updated_at)
        if same.update(deleted_at=None, deleted_by="") != 1:
            raise NotFound("There is no such note.")
        _fill_index(note, parts, vectors)
    note.deleted_at, note.deleted_by = None, ""
    return note


def _check_version(note: Note, version: int) -> None:
    if note.version != version:
        raise Conflict(f"The note has version {note.version} by now: look at it again.")


def _complete(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a new note, with the texts that follow from the others."""
    columns = {"metadata": {}, **fields}
    for name in wording.TEXTS:
        if not columns.get(name, "").strip():
            columns[name] = wording.own_text(name, columns)
    return _check_texts(columns)


def _follow(note: Note, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changed columns, and the texts that follow from them.

    A text that is what followed from the columns as they were follows from them anew.
    """
    before = {name: getattr(note, name) for name in KEPT}
    after = {**before, **fields}
    after["occurred_at"] = after["occurred_at"] or note.created_at
    derived = {name for name in wording.TEXTS if before[name] == wording.own_text(name, before)}
    unset = {name for name in wording.TEXTS if name in fields and fields[name] is None}
    after |= dict.fromkeys(unset, "")
    if "content" not in unset:
        after["label"] = after["label"] or before["label"]  # a content may stand on it
    elif "label" in derived - set(fields):
        after["label"] = ""  # the beginning of what is taken back
    for name in wording.TEXTS:
        is_needed = name in fields and name != "description"
        value = fields.get(name) or ""
        if not value.strip() and (name in derived or is_needed or name in unset):
            after[name] = wording.own_text(name, after)
    return _check_texts(after)


def _check_texts(columns: dict[str, Any]) -> dict[str, Any]:
    if not columns["content"].strip():
        raise Problem(
            "The request has errors.",
            fields={"content": ["This is needed, or something that it follows from."]},
        )
    return columns


def _check_quota(note: Note) -> None:
    texts = (note.label, note.description, note.content, note.excerpt)
    size = sum(len(text.encode()) for text in texts) + count_bytes(note.metadata)
    check_quota(note.tenant, more_rows=1, more_bytes=size)


def _embed(note: Note, *, at_once: bool = True) -> tuple[list[Passage], Sequence[Vectors | None]]:
    """Return the note's passages and their vectors; None: they are made later, by a job."""
    parts = passages_of(note)
    texts = [part.meaning for part in parts]
    if not at_once or sum(map(len, texts)) > settings.NOTE_EMBEDDED_AT_ONCE:
        return parts, [None] * len(parts)
    return parts, index.try_embed(texts, timeout_s=EMBEDDING_TIMEOUT_S)


def index_notes(notes: Sequence[Note]) -> None:
    """Make notes of one conversation, or one of none, findable; a job makes their vectors."""
    if notes:
        parts = [(note, *_embed(note, at_once=False)) for note in notes]
        entries = [entry for part in parts for entry in _list_entries(*part)]
        _add_entries(notes[0], entries)


def _fill_index(note: Note, parts: Sequence[Passage], vectors: Sequence[Vectors | None]) -> None:
    _add_entries(note, list(_list_entries(note, parts, vectors)))


def _add_entries(note: Note, entries: Sequence[Entry]) -> None:
    home = note.conversation
    index.add_entries(
        tenant=note.tenant,
        conversation_id=note.conversation_id,
        language=home.language if home else detect_language([entry.lexical for entry in entries]),
        model=embeddings.get_embedder().name,
        entries=entries,
    )


def _list_entries(
    note: Note, parts: Sequence[Passage], vectors: Sequence[Vectors | None]
) -> Iterator[Entry]:
    for place, (part, vector) in enumerate(zip(parts, vectors, strict=True)):
        yield Entry(
            memory=Memory(id=note.id, tenant=note.tenant, kind=MemoryKind.NOTE),
            kind=UnitKind.NOTE,
            lexical=part.words,
            vector=vector,
            valid_at=note.occurred_at,
            first_seq=place,
            last_seq=place,
        )
