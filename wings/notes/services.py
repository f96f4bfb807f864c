"""Stores, changes, deletes and restores notes; each change is a version, indexed again.

No call waits for a model: a note is found by words at once, and a job makes its vectors.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Required, TypedDict, Unpack

from django.db import IntegrityError, transaction

from episodic.erased_keys import refuse_erased_key
from episodic.queries import database_now
from episodic.services import IdempotencyKey, find_posted, lock_or_make
from indexing import services as index
from indexing.detection import detect_language
from indexing.models import Memory, MemoryKind, UnitKind
from indexing.services import Entry
from memoryproject.edge.errors import Conflict, NotFound, get_row
from memoryproject.edge.fields import count_bytes
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import APIKey, Tenant
from memoryproject.tenancy.quotas import check_quota
from memoryproject.text.cleaning import clean_block
from memoryproject.text.tokens import measure
from wings.notes.models import Note, NoteState, NoteVersion
from wings.notes.queries import active_notes, passages_of
from wings.notes.texts import KEPT, complete, follow


class Request(TypedDict, total=False):
    """The caller, conversation and idempotency key of stored notes.

    `conversation_id` is the agent's own; a missing conversation is created.
    """

    tenant: Required[Tenant]
    actor: Required[str]
    made_by: Required[APIKey | None]
    conversation_id: uuid.UUID | None
    idempotency: IdempotencyKey | None


def get_note(*, tenant: Tenant, note_id: uuid.UUID) -> Note:
    """Return a note that is not deleted, with its conversation; raise NotFound if there is none."""
    rows = active_notes(tenant=tenant).select_related("conversation")
    return get_row(rows, "note", id=note_id)


class Posted(NamedTuple):
    """The stored notes in order; `replayed` where an earlier request stored them."""

    notes: list[Note]
    replayed: bool


def add_note(
    *, fields: Mapping[str, Any], **request: Unpack[Request]
) -> tuple[Note, NoteState | None]:
    """Store a note, and index it.

    If an earlier request stored it, its first version is returned, too. `fields` as in `add_notes`.

    Raises:
        Conflict, Gone, OverQuota, Problem: as `add_notes`.
    """
    posted = _add([complete(fields)], **request)
    note = posted.notes[0]
    if not posted.replayed:
        return note, None
    first = NoteVersion.objects.of(note.tenant).filter(note=note, version=1).first()
    return note, first or note


def add_notes(*, notes: Sequence[Mapping[str, Any]], **request: Unpack[Request]) -> Posted:
    """Store notes in order, all or nothing, and index them.

    Each has the checked columns of a note by name; missing label, description and content are
    derived from the others. The notes are found by words at once; a job makes their vectors.

    Raises:
        Conflict: the idempotency key was used for another body.
        Gone: what was posted under the key was erased.
        Forbidden: the caller's key is bound to other users.
        OverQuota: the tenant may not store so much.
        Problem: a note has no content, and none can be derived.
    """
    columns = [complete(fields, f"notes.{index}.") for index, fields in enumerate(notes)]
    return _add(columns, **request)


def _add(columns: Sequence[Mapping[str, Any]], **request: Unpack[Request]) -> Posted:
    tenant, idempotency = request["tenant"], request.get("idempotency")
    earlier = _find_earlier(tenant, idempotency)
    if earlier:
        return Posted(notes=earlier, replayed=True)
    key, body_sha256 = (idempotency.key, idempotency.body_sha256) if idempotency else (None, "")
    notes = [
        Note(
            tenant=tenant,
            made_by=request["made_by"],
            actor=request["actor"],
            client_key=key,
            client_index=index,
            body_sha256=body_sha256,
            token_sizes=measure(clean_block(fields["content"])),
            **fields,
        )
        for index, fields in enumerate(columns)
    ]
    _check_quota(notes)
    try:
        with transaction.atomic():
            _insert(notes, request.get("conversation_id"))
    except IntegrityError:  # the same request, at the same moment
        earlier = _find_earlier(tenant, idempotency)
        if not earlier and idempotency and walls.get_users() is not None:
            raise Conflict("This Idempotency-Key was used for another request.") from None
        if not earlier:
            raise
        return Posted(notes=earlier, replayed=True)
    return Posted(notes=notes, replayed=False)


def _insert(notes: Sequence[Note], conversation_id: uuid.UUID | None) -> None:
    """Insert new notes of one tenant and their search entries, by a fixed number of statements."""
    tenant, home = notes[0].tenant, None
    if conversation_id is not None:
        home = lock_or_make(tenant=tenant, external_id=conversation_id)
    for note in notes:
        note.conversation = home
        _check_user(note)
    memories = index.register(tenant=tenant, kind=MemoryKind.NOTE, count=len(notes))
    for note, memory in zip(notes, memories, strict=True):
        note.id = memory.id
        note.created_at = note.updated_at = memory.created_at
        note.occurred_at = note.occurred_at or memory.created_at
    Note.objects.bulk_create(notes)
    index_notes(notes)


def _find_earlier(tenant: Tenant, idempotency: IdempotencyKey | None) -> list[Note]:
    """Return what an earlier request under the same key stored, in its order, as of now."""
    if idempotency is None:
        return []
    refuse_erased_key(tenant=tenant, place=tenant.id, key=idempotency.key)
    return find_posted(Note.objects.of(tenant).select_related("conversation"), idempotency)


def change_note(
    *, tenant: Tenant, actor: str, note_id: uuid.UUID, version: int, fields: Mapping[str, Any]
) -> Note:
    """Write a new version of a note, and keep the old one.

    A text derived from the metadata is derived again. None for a text or for `occurred_at` means as
    if it had never been given. If nothing changes, nothing is written.

    Raises:
        NotFound: the tenant has no such note.
        Conflict: `version` is not the current one.
        OverQuota: the tenant may not store so much.
        Problem: the content would be empty.
    """
    note = get_note(tenant=tenant, note_id=note_id)
    _check_version(note, version)
    before = NoteVersion(note=note, **{name: getattr(note, name) for name in KEPT})
    for name, value in follow(note, fields).items():
        setattr(note, name, value)
    if all(getattr(note, name) == getattr(before, name) for name in KEPT):
        return note
    _check_user(note)
    _check_quota([note])
    note.token_sizes = measure(clean_block(note.content))
    with transaction.atomic():
        rows = active_notes(tenant=tenant).select_for_update()
        _check_version(get_row(rows, "note", id=note.id), version)
        note.version, note.actor, note.updated_at = version + 1, actor, database_now()
        before.tenant, before.replaced_at = tenant, note.updated_at
        before.save(force_insert=True)
        note.save(update_fields=[*KEPT, "token_sizes"])
        index.remove_entries(tenant=tenant, memory_id=note.id)
        index_notes([note])
    return note


def delete_note(*, tenant: Tenant, actor: str, note_id: uuid.UUID) -> None:
    """Delete a note: it is no longer found or shown. Its text stays until it is erased."""
    with transaction.atomic():
        active = active_notes(tenant=tenant).filter(id=note_id)
        if active.update(deleted_at=database_now(), deleted_by=actor) != 1:
            raise NotFound("There is no such note.")
        index.remove_entries(tenant=tenant, memory_id=note_id)


def restore_note(*, tenant: Tenant, note_id: uuid.UUID) -> Note:
    """Restore a deleted note: it is found, shown and linked as before.

    Raises:
        NotFound: the tenant has no such note, or it was erased.
        Conflict: it is not deleted.
    """
    note = get_row(Note.objects.of(tenant).select_related("conversation"), "note", id=note_id)
    if note.deleted_at is None:
        raise Conflict("The note is not deleted.")
    with transaction.atomic():
        # Notes erased or restored meanwhile must not be indexed.
        same = Note.objects.of(tenant).filter(id=note.id, version=note.version)
        same = same.filter(updated_at=note.updated_at, deleted_at=note.deleted_at)
        if same.update(deleted_at=None, deleted_by="") != 1:
            raise NotFound("There is no such note.")
        index_notes([note])
    note.deleted_at, note.deleted_by = None, ""
    return note


def _check_user(note: Note) -> None:
    """Set the user of a note written by a key bound to users; raise Forbidden if not allowed."""
    if note.user_id or note.conversation_id is None:
        note.user_id = walls.choose_user(note.user_id)


def _check_version(note: Note, version: int) -> None:
    if note.version != version:
        raise Conflict(f"The note has version {note.version} by now: look at it again.")


def _check_quota(notes: Sequence[Note]) -> None:
    size = 0
    for note in notes:
        texts = note.label + note.description + note.content + note.excerpt
        size += len(texts.encode()) + count_bytes(note.metadata)
    check_quota(notes[0].tenant, more_rows=len(notes), more_bytes=size)


def index_notes(notes: Sequence[Note]) -> None:
    """Index notes of one conversation, or of none; a job makes their vectors."""
    if notes:
        index.add_entries(
            tenant=notes[0].tenant,
            conversation_id=notes[0].conversation_id,
            entries=[entry for note in notes for entry in _list_entries(note)],
        )


def _list_entries(note: Note) -> Iterator[Entry]:
    """Yield the passages of a note; without a conversation each note has its own language."""
    parts, home = passages_of(note), note.conversation
    language = home.language if home else detect_language([part.words for part in parts])
    for place, part in enumerate(parts):
        yield Entry(
            memory=Memory(id=note.id, tenant=note.tenant, kind=MemoryKind.NOTE),
            kind=UnitKind.NOTE,
            lexical=part.words,
            vector=None,
            language=language,
            valid_at=note.occurred_at,
            first_seq=place,
            last_seq=place,
        )
