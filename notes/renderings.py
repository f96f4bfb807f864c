"""Notes, their versions and links as the API answers with them."""

from typing import Any

from rest_framework import serializers

from memoryproject.edge.fields import Output
from notes import wording
from notes.kinds import SourceType
from notes.models import Note, NoteState

SOURCE_TYPES = [kind.value for kind in SourceType]


class SpanOutput(Output):
    """Where in a stored text something stands."""

    span_id = serializers.CharField()
    start_byte = serializers.IntegerField()
    end_byte = serializers.IntegerField()


class NoteStateOutput(Output):
    """What a version says, without its long texts."""

    version = serializers.IntegerField()
    source_type = serializers.ChoiceField(choices=SOURCE_TYPES)
    source_id = serializers.CharField(allow_null=True)
    user_id = serializers.CharField(allow_null=True)
    label = serializers.CharField()  # type: ignore[assignment]
    description = serializers.CharField(allow_null=True)
    snippet = serializers.CharField()
    importance = serializers.FloatField()
    category = serializers.CharField(allow_null=True)
    emotion_type = serializers.CharField(allow_null=True)
    emotion_intensity = serializers.FloatField(allow_null=True)
    emotion_valence = serializers.CharField(allow_null=True)
    tags = serializers.ListField(child=serializers.CharField())
    metadata = serializers.DictField()
    span = SpanOutput(allow_null=True)
    source_path = serializers.CharField(allow_null=True)
    occurred_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    updated_by = serializers.CharField(source="actor")


class ListedNote(NoteStateOutput):
    """A note as the list has it."""

    id = serializers.UUIDField()
    conversation_id = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()


class NoteOutput(ListedNote):
    """A whole note."""

    content = serializers.CharField()
    excerpt = serializers.CharField(allow_null=True)


class StoredNote(serializers.Serializer[Any]):
    """A note that was stored."""

    id = serializers.UUIDField()


class NotesOutput(serializers.Serializer[Any]):
    """The answer of `POST notes/batch`."""

    notes = StoredNote(many=True)


class NoteVersionOutput(NoteStateOutput):
    """A note as it stood."""

    content = serializers.CharField()
    excerpt = serializers.CharField(allow_null=True)
    replaced_at = serializers.DateTimeField(allow_null=True)


class LinkOutput(Output):
    """A link between two memories."""

    id = serializers.UUIDField()
    from_id = serializers.UUIDField(source="from_memory_id")
    to_id = serializers.UUIDField(source="to_memory_id")
    link_type = serializers.CharField()
    made_by = serializers.ChoiceField(choices=["agent", "person"])
    actor = serializers.CharField()
    created_at = serializers.DateTimeField()


def render_note(
    note: Note, state: NoteState | None = None, form: type[NoteStateOutput] = NoteOutput
) -> dict[str, Any]:
    """Return a note as a form has it, as it is or as it was in a version.

    The note's conversation is loaded.
    """
    home = note.conversation
    own = {
        "id": note.id,
        "conversation_id": home.external_id if home else None,
        "created_at": note.created_at,
    }
    return render_state(state or note, form, **own)


def render_state(state: NoteState, form: type[NoteStateOutput], **values: Any) -> dict[str, Any]:
    """Return what a version says, as a form has it."""
    snippet = wording.snippet(
        source_type=state.source_type,
        description=state.description,
        content=state.content,
        metadata=state.metadata,
    )
    span = state if state.span_id else None
    return dict(form(vars(state) | {"snippet": snippet, "span": span} | values).data)
