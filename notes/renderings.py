"""Notes and links as the API shows them."""

from __future__ import annotations

from typing import Any

from memoryproject.fields import say_moment
from notes import wording
from notes.models import Link, Note, NoteState, NoteVersion


def render_listed_note(note: Note, state: NoteState | None = None) -> dict[str, Any]:
    """Return the fields that the list has; the note's conversation is loaded.

    With `state` the note as it was in that version.
    """
    home = note.conversation
    return {
        "id": str(note.id),
        "conversation_id": str(home.external_id) if home else None,
        **render_state(state or note),
        "created_at": say_moment(note.created_at),
    }


def render_note(note: Note, state: NoteState | None = None) -> dict[str, Any]:
    """Return the whole note, as it is or as it was in a version."""
    return {**render_listed_note(note, state), **_render_texts(state or note)}


def render_version(state: NoteState) -> dict[str, Any]:
    """Return what a version says: an earlier one, or the note itself for the current one."""
    over = state.replaced_at if isinstance(state, NoteVersion) else None
    return {
        **render_state(state),
        **_render_texts(state),
        "replaced_at": say_moment(over) if over else None,
    }


def _render_texts(state: NoteState) -> dict[str, Any]:
    return {"content": state.content, "excerpt": state.excerpt or None}


def render_state(state: NoteState) -> dict[str, Any]:
    """Return what a version says, without its long texts."""
    return {
        "version": state.version,
        "source_type": state.source_type,
        "source_id": state.source_id or None,
        "user_id": state.user_id or None,
        "label": state.label,
        "description": state.description or None,
        "snippet": snippet_of(state),
        "importance": state.importance,
        "category": state.category or None,
        "emotion_type": state.emotion_type or None,
        "emotion_intensity": state.emotion_intensity,
        "emotion_valence": state.emotion_valence or None,
        "tags": state.tags,
        "metadata": state.metadata,
        "span": _render_span(state),
        "source_path": state.source_path or None,
        "occurred_at": say_moment(state.occurred_at),
        "updated_at": say_moment(state.updated_at),
        "updated_by": state.actor,
    }


def snippet_of(state: NoteState) -> str:
    """Return what a note says, in a line."""
    return wording.snippet(
        source_type=state.source_type,
        description=state.description,
        content=state.content,
        metadata=state.metadata,
    )


def _render_span(state: NoteState) -> dict[str, Any] | None:
    if not state.span_id:
        return None
    return {
        "span_id": state.span_id,
        "start_byte": state.start_byte,
        "end_byte": state.end_byte,
    }


def render_link(link: Link) -> dict[str, Any]:
    """Return a link that somebody drew."""
    return {
        "id": str(link.id),
        "from_id": str(link.from_memory_id),
        "to_id": str(link.to_memory_id),
        "link_type": link.link_type,
        "made_by": link.made_by,
        "actor": link.actor,
        "created_at": say_moment(link.created_at),
    }
