"""Serializers of the erasure calls."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from erasure.models import Scope, State
from erasure.targets import USER_ID_AT_MOST
from memoryproject.edge.fields import ContentField, FlagField, Strict, WordField
from semantic.curation import REASON_AT_MOST

PREVIEW = "preview"


class EraseInput(Strict):
    """The body of `erasures`."""

    scope = WordField(choices=Scope.choices, help_text="What is erased, with all made of it.")
    id = ContentField(
        max_length=USER_ID_AT_MOST,
        help_text="Of a message, note or person its id, of a conversation the agent's own, of a "
        "user the `user_id` of its notes, of an import its changeset, of a retention policy its "
        "id, of the tenant its id or name.",
    )
    reason = ContentField(
        max_length=REASON_AT_MOST, help_text="Why; kept for good, so do not quote."
    )
    dry_run = FlagField(default=False, help_text="Only say how much it would be.")


class ErasureOutput(serializers.Serializer[Any]):
    """What was erased, or would be: never what it said."""

    id = serializers.UUIDField(allow_null=True, help_text="null: a dry run.")
    scope = serializers.ChoiceField(choices=Scope.choices)
    target_id = serializers.UUIDField(
        source="target",
        allow_null=True,
        help_text="The server's id of it; null: the notes of a user.",
    )
    state = serializers.ChoiceField(choices=[(PREVIEW, "a dry run"), *State.choices])
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="How many rows were deleted, by kind."
    )
    actor = serializers.CharField(allow_null=True)
    reason = serializers.CharField(allow_null=True)
    job_id = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
