"""What the calls of the API take and give."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from erasure.models import Erasure, Scope, State
from erasure.services import REASON_AT_MOST
from erasure.targets import USER_ID_AT_MOST
from memoryproject.fields import ContentField, FlagField, IdField, Strict, WordField, say_moment
from memoryproject.pages import PAGE, PAGE_AT_MOST, QueryNumberField

PREVIEW = "preview"


class EraseInput(Strict):
    """The body of `erasures`."""

    scope = WordField(choices=Scope.choices, help_text="What is erased, with all made of it.")
    id = ContentField(
        max_length=USER_ID_AT_MOST,
        help_text="Of a message or note its id, of a conversation the agent's own, of a user the "
        "`user_id` of its notes, of the tenant its id or name.",
    )
    reason = ContentField(
        max_length=REASON_AT_MOST, help_text="Why; kept for good, so do not quote."
    )
    dry_run = FlagField(default=False, help_text="Only say how much it would be.")


class ErasureQuery(Strict):
    """The query parameters of the list of erasures."""

    after = IdField(required=False, help_text="The `next` of the page before.")
    limit = QueryNumberField(default=PAGE, min_value=1, max_value=PAGE_AT_MOST)


class ErasureOutput(serializers.Serializer[Any]):
    """What was erased, or would be: never what it said."""

    id = serializers.UUIDField(allow_null=True, help_text="null: a dry run.")
    scope = serializers.ChoiceField(choices=Scope.choices)
    target_id = serializers.UUIDField(
        allow_null=True, help_text="The server's id of it; null: the notes of a user."
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


def render_erasure(erasure: Erasure) -> dict[str, Any]:
    """Return an erasure as the API shows it."""
    return {
        "id": str(erasure.id),
        "scope": erasure.scope,
        "target_id": str(erasure.target) if erasure.target else None,
        "state": erasure.state,
        "counts": erasure.counts,
        "actor": erasure.actor,
        "reason": erasure.reason,
        "job_id": str(erasure.job_id) if erasure.job_id else None,
        "created_at": say_moment(erasure.created_at),
        "finished_at": say_moment(erasure.finished_at) if erasure.finished_at else None,
    }
