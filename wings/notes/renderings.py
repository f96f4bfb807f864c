"""Notes, their versions and links, as the API returns them."""

from typing import Any

from rest_framework import serializers

from indexing.kinds import SourceType
from memoryproject.edge.fields import Output
from wings.notes import wording
from wings.notes.models import Link, Note, NoteState, NoteVersion

SOURCE_TYPES = [kind.value for kind in SourceType]


class SpanOutput(Output):
    """A range in a stored text."""

    span_id = serializers.CharField()
    start_byte = serializers.IntegerField()
    end_byte = serializers.IntegerField()


class NoteStateOutput(Output):
    """A version without its long texts."""

    table = NoteState
    columns = (
        "version source_type source_id user_id label description snippet importance category "
        "emotion_type emotion_intensity emotion_valence tags metadata span source_path occurred_at "
        "updated_at updated_by=actor"
    )
    emotion_valence = serializers.CharField(allow_null=True)
    snippet = serializers.CharField()
    span = SpanOutput(allow_null=True)


class ListedNote(NoteStateOutput):
    """A note in the list."""

    table, columns = Note, "id conversation_id created_at"


class NoteOutput(ListedNote):
    """A whole note."""

    table, columns = Note, "content excerpt"


class StoredNote(Output):
    """A note that was stored."""

    table, columns = Note, "id"


class NotesOutput(serializers.Serializer[Any]):
    """The answer of `POST notes/batch`."""

    notes = StoredNote(many=True)


class NoteVersionOutput(NoteStateOutput):
    """A version of a note."""

    table, columns = NoteVersion, "content excerpt replaced_at"
    replaced_at = serializers.DateTimeField(allow_null=True)


class LinkOutput(Output):
    """A link between two memories."""

    table = Link
    columns = "id from_id=from_memory_id to_id=to_memory_id link_type made_by actor created_at"
    link_type = serializers.CharField()
    made_by = serializers.ChoiceField(choices=["agent", "person"])


def render_note(
    note: Note, state: NoteState | None = None, form: type[NoteStateOutput] = NoteOutput
) -> dict[str, Any]:
    """Return a note as a serializer needs it, in its current or an earlier version.

    The note's conversation is loaded.
    """
    home = note.conversation.external_id if note.conversation else None
    own = {"id": note.id, "conversation_id": home, "created_at": note.created_at}
    return render_state(state or note, form, **own)


def render_state(state: NoteState, form: type[NoteStateOutput], **values: Any) -> dict[str, Any]:
    """Return a version as a serializer needs it."""
    snippet = wording.snippet(
        source_type=state.source_type,
        description=state.description,
        content=state.content,
        metadata=state.metadata,
    )
    span = state if state.span_id else None
    return dict(form(vars(state) | {"snippet": snippet, "span": span} | values).data)
