"""Bodies and query parameters of calls about notes and links."""

from collections.abc import Mapping
from copy import copy
from functools import partial
from typing import Any

from rest_framework import serializers

from indexing.kinds import LinkType, SourceType, Valence
from memoryproject.edge import fields
from memoryproject.edge.pages import LimitField, PageQuery, QueryNumberField
from wings.notes.renderings import SOURCE_TYPES

COUNT_AT_MOST = 10**9
POINTS_AT_MOST = 50
POINT_AT_MOST = 500
WORD_AT_MOST = 100


CountField = partial(fields.WholeNumberField, min_value=0, max_value=COUNT_AT_MOST)


class PointsField(serializers.ListField):
    def __init__(self, **options: Any) -> None:
        child = fields.TextField(max_length=POINT_AT_MOST)
        super().__init__(child=child, max_length=POINTS_AT_MOST, **options)


class ThreadSummary(fields.Strict):
    """The metadata of a thread's summary."""

    platform = fields.TextField(max_length=WORD_AT_MOST)
    participant_count = CountField()
    message_count = CountField()
    key_points = PointsField()
    sentiment = fields.WordField(choices=[kind.value for kind in Valence], required=False)
    last_activity_at = fields.MomentField(required=False)


class PlanSummary(fields.Strict):
    """The metadata of a plan's summary."""

    plan_type = fields.TextField(max_length=WORD_AT_MOST)
    total_nodes = CountField()
    completed_nodes = CountField()
    pending_nodes = CountField()
    failed_nodes = CountField()
    key_milestones = PointsField()
    current_phase = fields.TextField(max_length=WORD_AT_MOST, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        parts = sum(attrs[f"{name}_nodes"] for name in ("completed", "pending", "failed"))
        if parts > attrs["total_nodes"]:
            raise serializers.ValidationError({"total_nodes": ["This is less than its parts."]})
        return attrs


SUMMARIES: dict[str, type[fields.Strict]] = {
    SourceType.THREAD_SUMMARY: ThreadSummary,
    SourceType.PLAN_SUMMARY: PlanSummary,
}
"""Forms of the metadata by type of note; other types may have any metadata."""


def check_metadata(source_type: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata as stored: for a summary only its own fields, times as text.

    Raises:
        ValidationError: it is not valid for its type.
    """
    if source_type not in SUMMARIES:
        return dict(metadata)
    form = SUMMARIES[source_type](data=metadata)
    if not form.is_valid():
        raise serializers.ValidationError({"metadata": form.errors})
    values = dict(form.validated_data)
    if "last_activity_at" in values:
        values["last_activity_at"] = fields.say_moment(values["last_activity_at"])
    return values


ID_AT_MOST = 255
LABEL_AT_MOST = 300
DESCRIPTION_AT_MOST = 4_000
PATH_AT_MOST = 1_000
EXCERPT_AT_MOST = 16_000
TAGS_AT_MOST = 50
BYTE_AT_MOST = 2**62
UNSET: dict[str, Any] = {
    **dict.fromkeys(["source_id", "user_id", "category", "emotion_type", "emotion_valence"], ""),
    **dict.fromkeys(["source_path", "excerpt"], ""),
    **dict.fromkeys(["label", "description", "content", "occurred_at", "emotion_intensity"]),
    "importance": 0.5,
    "tags": [],
    "metadata": {},
    "span": {"span_id": "", "start_byte": None, "end_byte": None},
}
"""Defaults of a note's fields; None: the service derives the value."""
VALENCES = [kind.value for kind in Valence]


WordsField = partial(fields.TextField, required=False, allow_blank=True)
"""A text that may be left out or be empty."""
ShareField = partial(fields.NumberField, required=False, min_value=0, max_value=1)


class SpanInput(fields.Strict):
    """A range in a stored text."""

    span_id = fields.TextField("Your own id of the stored text.", max_length=ID_AT_MOST)
    start_byte = fields.WholeNumberField(
        "The first byte, counted from 0.", min_value=0, max_value=BYTE_AT_MOST
    )
    end_byte = fields.WholeNumberField("Excluded.", min_value=0, max_value=BYTE_AT_MOST)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["end_byte"] < attrs["start_byte"]:
            raise serializers.ValidationError({"end_byte": ["This lies before start_byte."]})
        return attrs


class NoteFields(fields.Strict):
    """Fields that can be written and changed."""

    source_id = WordsField("Your own id of what it is about.", max_length=ID_AT_MOST)
    user_id = WordsField("Whom it is about, by your own id.", max_length=ID_AT_MOST)
    label = WordsField("A line to show it by.", max_length=LABEL_AT_MOST)  # type: ignore[assignment]
    description = WordsField(
        "A few sentences about it; null: none.", max_length=DESCRIPTION_AT_MOST
    )
    content = fields.ContentField("Up to 64 KiB; stored unchanged.", required=False)
    importance = ShareField("0 to 1; 0.5 if nothing is said.")
    category = WordsField("A word of your own; null: none.", max_length=WORD_AT_MOST)
    emotion_type = WordsField(
        "The name of a feeling, a word of your own; null: none.", max_length=WORD_AT_MOST
    )
    emotion_intensity = ShareField("0 to 1.")
    emotion_valence = fields.WordField(
        "Whether the feeling is positive, negative, neutral or mixed; null: not said.",
        choices=VALENCES,
        required=False,
    )
    tags = serializers.ListField(
        child=fields.TextField(max_length=WORD_AT_MOST),
        max_length=TAGS_AT_MOST,
        required=False,
        help_text="Words of your own, at most 50.",
    )
    metadata = fields.MetadataField(
        "Of a thread_summary: platform, participant_count, message_count, key_points, sentiment?, "
        "last_activity_at?. Of a plan_summary: plan_type, total_nodes, completed_nodes, "
        "pending_nodes, failed_nodes, key_milestones, current_phase?. Else anything of yours, "
        "returned untouched. Up to 16 KiB as JSON.",
        required=False,
    )
    span = SpanInput(required=False, help_text="The stored text that it points into.")
    source_path = WordsField("Of a document: where it came from.", max_length=PATH_AT_MOST)
    excerpt = WordsField("Of a document: a passage of it.", max_length=EXCERPT_AT_MOST)
    occurred_at = fields.MomentField(
        "When it was so. ISO 8601 or ms since 1970; default: now.", required=False
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        source_type = attrs.get("source_type") or self.context.get("source_type", "")
        is_new_summary = source_type in SUMMARIES and "source_type" in attrs
        if "metadata" in attrs or is_new_summary:
            attrs["metadata"] = check_metadata(source_type, attrs.get("metadata", {}))
        span = attrs.pop("span", None)
        return attrs | dict(span or {})


class BatchedNoteInput(NoteFields):
    """A note of a batch."""

    source_type = fields.WordField(
        "note if nothing is said.", choices=SOURCE_TYPES, default=SourceType.NOTE.value
    )


class NoteInput(BatchedNoteInput):
    """The body of `POST notes`."""

    conversation_id = fields.IdField(
        "Any UUID of yours; without it the whole tenant's.", required=False
    )


class NotesInput(fields.Batch):
    """The body of `POST notes/batch`."""

    listed = "notes"
    conversation_id = fields.IdField(
        "Any UUID of yours; without it the notes are the whole tenant's.", required=False
    )
    notes = BatchedNoteInput(many=True, allow_empty=False, help_text="1 to 500, in order.")


class NotePatch(NoteFields):
    """The body of `PATCH notes/{id}`: absent fields stay; null means as if never given."""

    version = fields.WholeNumberField(
        "The version that you have read.", min_value=1, max_value=2**31 - 1
    )

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; those that can be reset are described as such."""
        described = super().get_fields()
        for name in UNSET:
            described[name].allow_null = True
        return described

    def to_internal_value(self, value: Any) -> Any:
        values = super().to_internal_value(value)
        unset = {name for name in UNSET if name in value and value[name] is None}
        return values | {name: copy(UNSET[name]) for name in unset}


class NoteQuery(PageQuery):
    source_type = fields.WordField(
        "Only notes of this source type.", choices=SOURCE_TYPES, required=False
    )
    source_id = fields.TextField(
        "Only notes with this source id.", required=False, max_length=ID_AT_MOST
    )
    user_id = fields.NameField("Only about this user, or of his conversations.")
    category = fields.TextField(
        "Only notes of this category.", required=False, max_length=WORD_AT_MOST
    )
    tag = fields.TextField("One of its tags.", required=False, max_length=WORD_AT_MOST)


class VersionQuery(fields.Strict):
    after = QueryNumberField("The `next` of the page before.", required=False, min_value=1)
    limit = LimitField()


class LinkInput(fields.Strict):
    """The body of `POST links`."""

    from_id = fields.IdField("An episode, a fact or a note of yours.")
    to_id = fields.IdField("Another one.")
    link_type = fields.WordField(
        "relates_to if nothing is said. What the server links itself (derived_from, supersedes, "
        "next) cannot be created.",
        choices=[kind.value for kind in LinkType],
        default=LinkType.RELATES_TO.value,
    )
