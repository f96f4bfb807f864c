"""Loads notes as memories, with their whole text or its beginning."""

from collections.abc import Iterator
from dataclasses import replace

from django.db.models.functions import Left

from indexing.models import MemoryKind
from memoryproject.database.token_sizes import stored_quarters
from memoryproject.text.tokens import in_use
from retrieval.corrections import find_corrections
from retrieval.memory import Loader, Memory
from wings.notes.models import Note
from wings.notes.queries import active_notes

BEGINNING = 1_000
"""Characters of a note in an outline."""


def load_notes(loader: Loader) -> Iterator[Memory]:
    """Yield the memories among these that are notes."""
    notes = active_notes(tenant=loader.tenant).filter(id__in=loader.ids)
    notes = notes.select_related("conversation")
    if loader.outline:
        sizes = {"quarters": stored_quarters(in_use().name)}
        notes = notes.defer("content").annotate(beginning=Left("content", BEGINNING), **sizes)
    rows = list(notes)
    places = [row.id for row in rows if row.conversation and row.conversation.has_corrections]
    corrections = find_corrections(loader.tenant, places) if places else {}
    for row in rows:
        memory = _outline_note(row) if loader.outline else _of_note(row)
        correction = loader.say(corrections.get(row.id))
        marked = f"{memory.content} [{correction}]" if correction else ""
        yield replace(memory, correction=correction, marked=marked, style=loader.style)


def _outline_note(note: Note) -> Memory:
    note.content = note.beginning  # type: ignore[attr-defined]
    unloaded = note.quarters  # type: ignore[attr-defined]
    return replace(_of_note(note), citation="", unloaded_quarters=unloaded)


def _of_note(note: Note) -> Memory:
    span = None
    if note.start_byte is not None and note.end_byte is not None:
        span = {name: getattr(note, name) for name in ("span_id", "start_byte", "end_byte")}
    return Memory(
        id=note.id,
        kind=MemoryKind.NOTE,
        source_type=note.source_type,
        source_id=note.source_id,
        label=note.label,
        description=note.description,
        metadata=note.metadata,
        content=note.content,
        span=span,
        importance=note.importance,
        at=note.occurred_at,
        created_at=note.created_at,
        conversation=note.conversation.external_id if note.conversation else None,
        user_id=note.user_id or (note.conversation.user_id if note.conversation else ""),
        category=note.category,
        emotion_type=note.emotion_type,
        emotion_intensity=note.emotion_intensity,
        emotion_valence=note.emotion_valence,
        tags=tuple(note.tags),
    )
