"""Serializers of the erasure calls."""

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
    id = ContentField(max_length=USER_ID_AT_MOST)
    reason = ContentField(max_length=REASON_AT_MOST)
    dry_run = FlagField(default=False)


class ErasureOutput(serializers.Serializer[Any]):
    """What was erased, or would be: never what it said."""

    id = serializers.UUIDField(allow_null=True)
    scope = serializers.ChoiceField(choices=Scope.choices)
    target_id = serializers.UUIDField(source="target", allow_null=True)
    state = serializers.ChoiceField(choices=[(PREVIEW, "a dry run"), *State.choices])
    counts = serializers.DictField(child=serializers.IntegerField())
    actor = serializers.CharField(allow_null=True)
    reason = serializers.CharField(allow_null=True)
    job_id = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
