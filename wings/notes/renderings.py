"""Notes, their versions and links, as the API returns them."""

from typing import Any

from rest_framework import serializers

from indexing.kinds import SourceType
from memoryproject.edge.fields import Column, Output
from wings.notes import wording
from wings.notes.models import Link, Note, NoteState, NoteVersion

SOURCE_TYPES = [kind.value for kind in SourceType]
LINK_TYPE = "What the link says of the two memories, read from the first to the second."
MADE_BY = (
    "Who created the link: an agent with a key, a person in the admin, or, by deriving it, the "
    "server."
)


class SpanOutput(Output):
    """A range in a stored text."""

    span_id = serializers.CharField(help_text="Your own id of the stored text.")
    start_byte = serializers.IntegerField(help_text="The first byte, counted from 0.")
    end_byte = serializers.IntegerField(help_text="Excluded.")


class NoteStateOutput(Output):
    """A version without its long texts."""

    table = NoteState
    version = Column("1, 2, 3, …: each change of the note makes one.")
    source_type = Column("What it is a note of.")
    source_id = Column("Your own id of what it is about; null: none.")
    user_id = Column("Whom it is about, by your own id; null: nobody was named.")
    label = Column("A line to show it by.")  # type: ignore[assignment]
    description = Column("A few sentences about it; null: none.")
    snippet = serializers.CharField(help_text="What it says, in a line.")
    importance = Column("From 0 to 1; 0.5 where nothing was said.")
    category = Column("A word of your own; null: none.")
    emotion_type = Column("The name of a feeling, a word of your own; null: none.")
    emotion_intensity = Column("How strong the feeling is, from 0 to 1; null: not said.")
    emotion_valence = serializers.CharField(
        allow_null=True,
        help_text="Whether the feeling is positive, negative, neutral or mixed; null: not said.",
    )
    tags = Column("Words of your own, at most 50.")
    metadata = Column("Of a summary its counts and points; else what you gave, unchanged.")
    span = SpanOutput(
        allow_null=True,
        help_text="The part of a stored text of yours that it points into; null: none.",
    )
    source_path = Column("Of a document where it came from; null: not said.")
    occurred_at = Column("When it was so, by the agent's clock.")
    updated_at = Column("When this version was written.")
    updated_by = Column("Which key or person wrote this version.", "actor")


class ListedNote(NoteStateOutput):
    """A note in the list."""

    table = Note
    id = Column("The id of the note.")
    conversation_id = Column("null: it is the whole tenant's.")
    created_at = Column("When the note was first written.")


class NoteOutput(ListedNote):
    """A whole note."""

    table = Note
    content = Column("The text of the note.")
    excerpt = Column("Of a document a passage of it; null: none.")


class StoredNote(Output):
    """A note that was stored."""

    table = Note
    id = Column("The id of the note.")


class NotesOutput(serializers.Serializer[Any]):
    """The answer of `POST notes/batch`."""

    notes = StoredNote(many=True, help_text="In the order of the request.")


class NoteVersionOutput(NoteStateOutput):
    """A version of a note."""

    table = NoteVersion
    content = Column("The text of the note.")
    excerpt = Column("Of a document a passage of it; null: none.")
    replaced_at = Column("null: the current one.", allow_null=True)


class LinkOutput(Output):
    """A link between two memories."""

    table = Link
    id = Column("The id of the link.")
    from_id = Column("The memory that the link comes from.", "from_memory_id")
    to_id = Column("The memory that the link points to.", "to_memory_id")
    link_type = serializers.CharField(help_text=LINK_TYPE)
    made_by = serializers.ChoiceField(choices=["agent", "person"], help_text=MADE_BY)
    actor = Column("Which key or person.")
    created_at = Column("When the link was created; null: the server derives it.")


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
