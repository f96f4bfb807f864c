"""Erasing over HTTP, for keys with the scope `admin`."""

import uuid
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.errors import get_row
from memoryproject.edge.fields import (
    CANONICAL_UUID,
    ContentField,
    FlagField,
    Output,
    Strict,
    WordField,
)
from memoryproject.edge.pages import PlaceQuery, describe_page
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from semantic.curation import REASON_AT_MOST
from wings.erasure import persons, services
from wings.erasure.models import Erasure, State
from wings.erasure.models import Scope as Extent

PREVIEW = "preview"


class EraseInput(Strict):
    """The body of `erasures`."""

    scope = WordField(
        choices=Extent.choices, help_text="What to erase, with everything made from it."
    )
    id = ContentField(max_length=services.USER_ID_AT_MOST)
    reason = ContentField(max_length=REASON_AT_MOST)
    dry_run = FlagField(default=False)
    shared = serializers.DictField(child=WordField(choices=persons.Choice.choices), default=dict)

    def validate_shared(self, value: dict[str, str]) -> dict[uuid.UUID, str]:
        if not all(map(CANONICAL_UUID.fullmatch, value)):
            raise serializers.ValidationError("Each key must be the UUID of a conversation.")
        return {uuid.UUID(name): choice for name, choice in value.items()}


class ErasedConversation(Output):
    """A conversation in which a person is to be erased, and what will be erased."""

    conversation_id = serializers.UUIDField(source="presence.conversation.external_id")
    user_id = serializers.CharField(source="presence.conversation.user_id", allow_null=True)
    is_theirs = serializers.BooleanField(source="presence.is_theirs")
    erases = serializers.ChoiceField(choices=persons.Choice.choices)
    theirs = serializers.IntegerField(source="presence.theirs")
    replies = serializers.IntegerField(source="presence.replies")
    others = serializers.IntegerField(source="presence.others")
    speakers = serializers.ListField(
        child=serializers.CharField(allow_blank=True), source="presence.speakers"
    )


class ErasureProof(serializers.Serializer[Any]):
    """Result of the search for a person's names and user ids after the erasure."""

    state = serializers.ChoiceField(choices=["clean", "found", "incomplete"])
    at = serializers.DateTimeField()
    names = serializers.IntegerField()
    user_ids = serializers.IntegerField()
    tables = serializers.IntegerField()
    columns = serializers.IntegerField()
    rows = serializers.IntegerField()
    pages = serializers.IntegerField()
    hits = serializers.DictField(child=serializers.IntegerField())
    row_ids = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    records = serializers.DictField(child=serializers.IntegerField())
    skipped = serializers.ListField(child=serializers.CharField())


class ErasureOutput(Output):
    """What was erased, or would be, without its text."""

    table = Erasure
    columns = (
        "id? scope target_id=target? state counts actor? reason? job_id created_at? finished_at"
    )
    state = serializers.ChoiceField(choices=[(PREVIEW, "a dry run"), *State.choices])
    counts = serializers.DictField(child=serializers.IntegerField())
    conversations = ErasedConversation(many=True, allow_null=True)
    proof = ErasureProof(allow_null=True)


class Erasures(KeyedView):
    """Erases, and lists erasures."""

    scope = Scope.ADMIN
    memory_operations = {"POST": "delete_memory"}

    @describe_page("list_erasures", PlaceQuery, ErasureOutput, "ErasurePage")
    def get(self, request: Request) -> Response:
        return self.list_page(Erasure.objects.of(self.tenant()), ErasureOutput)

    @describe("erase", EraseInput, {200: ErasureOutput, 202: ErasureOutput, 404: Error, 409: Error})
    def post(self, request: Request) -> Response:
        params = self.read(EraseInput)
        scope = Extent(params["scope"])
        erasure = services.draft_erasure(
            tenant=self.tenant(), scope=scope, name=params["id"], choices=params["shared"]
        )
        if params["dry_run"]:
            shown = {
                "scope": scope,
                "target": erasure.target,
                "conversations": persons.list_plans(erasure),
                "counts": services.preview(erasure),
            }
            absent = dict.fromkeys(ErasureOutput().fields)
            return Response(ErasureOutput({**absent, **shown, "state": PREVIEW}).data)
        services.do(erasure, actor=self.actor(), reason=params["reason"])
        done = erasure.state == State.DONE
        return Response(ErasureOutput(erasure).data, status=200 if done else 202)


class OneErasure(KeyedView):
    """An erasure, and its progress."""

    scope = Scope.ADMIN

    @describe("get_erasure", answers=ErasureOutput)
    def get(self, request: Request, erasure_id: uuid.UUID) -> Response:
        erasure = get_row(Erasure.objects.of(self.tenant()), "erasure", id=erasure_id)
        return Response(ErasureOutput(erasure).data)
