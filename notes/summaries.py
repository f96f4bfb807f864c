"""Checks the metadata of summaries, by the type of the note."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from memoryproject.edge import fields
from notes.kinds import SourceType, Valence

COUNT_AT_MOST = 10**9
POINTS_AT_MOST = 50
POINT_AT_MOST = 500
WORD_AT_MOST = 100


class CountField(fields.WholeNumberField):
    """How many there are."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=0, max_value=COUNT_AT_MOST, **options)


class PointsField(serializers.ListField):
    """Short texts, in order."""

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


FORMS: dict[str, type[fields.Strict]] = {
    SourceType.THREAD_SUMMARY: ThreadSummary,
    SourceType.PLAN_SUMMARY: PlanSummary,
}
"""Of other types of notes the metadata is the agent's own."""


def check_metadata(source_type: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata as it is stored: of a summary its own fields, times as text.

    Raises:
        ValidationError: it is not what its type must hold.
    """
    if source_type not in FORMS:
        return dict(metadata)
    form = FORMS[source_type](data=metadata)
    if not form.is_valid():
        raise serializers.ValidationError({"metadata": form.errors})
    values = dict(form.validated_data)
    if "last_activity_at" in values:
        values["last_activity_at"] = fields.say_moment(values["last_activity_at"])
    return values
