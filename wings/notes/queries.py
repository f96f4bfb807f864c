"""Finds notes, their versions and their search passages. Every query names its tenant."""

import re
import uuid
from collections.abc import Iterable

from django.db.models import QuerySet

from memoryproject.tenancy.models import Tenant
from wings.notes.models import Note, NoteVersion
from wings.notes.wording import Passage, passages

PARTS = re.compile(r"[^\W_]+")


def active_notes(*, tenant: Tenant) -> QuerySet[Note]:
    return Note.objects.of(tenant).filter(deleted_at=None)


def notes_by_id(*, tenant: Tenant, note_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Note]:
    """Return the notes among these that are not deleted, by id."""
    return {note.id: note for note in active_notes(tenant=tenant).filter(id__in=list(note_ids))}


def deleted_among(*, tenant: Tenant, memory_ids: Iterable[uuid.UUID]) -> set[uuid.UUID]:
    """Return the memories among these that are deleted notes, by one query.

    Uses index: notes_note_deleted.
    """
    deleted = Note.objects.of(tenant).filter(deleted_at__isnull=False, id__in=list(memory_ids))
    return set(deleted.values_list("id", flat=True))


def earlier_versions(note: Note, *, below: int) -> QuerySet[NoteVersion]:
    """Return a note's versions before one, newest first. Uses index: notes_version_once."""
    rows = NoteVersion.objects.of(note.tenant).filter(note=note, version__lt=below)
    return rows.order_by("-version")


def passages_of(note: Note) -> list[Passage]:
    """Return the passages by which a note is found; `SearchUnit.first_seq` is their number."""
    path = note.source_path
    words = [note.category, note.emotion_type, " ".join(note.tags)]
    # Postgres takes a path for one word: its parts are words, too.
    extras = [note.excerpt, path, " ".join(PARTS.findall(path)), *words]
    return passages(
        label=note.label,
        description=note.description,
        content=note.content,
        more=[text for text in extras if text],
    )


def list_passages(tenant: Tenant, memory_ids: Iterable[uuid.UUID]) -> dict[object, str]:
    """Return the embedded text of each passage of the notes among these, by id and number."""
    return {
        (note.id, place): part.meaning
        for note in notes_by_id(tenant=tenant, note_ids=memory_ids).values()
        for place, part in enumerate(passages_of(note))
    }
