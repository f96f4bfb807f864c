"""Rolls back a source, lists rollbacks and lifts quarantines."""

import uuid
from collections import Counter
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic import withholding as episodic
from episodic.models import Conversation, Role, Withholding
from memoryproject.edge import fields
from memoryproject.edge.errors import NotFound, get_row
from memoryproject.edge.pages import PlaceQuery, describe_page
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.models import APIKey
from semantic.curation_api import Curating, Reasoned
from wings.rollback import rollback


class RollbackInput(Reasoned):
    """The body of `rollbacks`: all given conditions must match; a source is required."""

    since = fields.MomentField()
    key_id = fields.IdField(required=False)
    conversation_id = fields.IdField(required=False)
    speaker = fields.TextField(required=False, max_length=200)
    role = fields.WordField(choices=Role.choices, required=False)
    dry_run = fields.FlagField(default=False)


class CountsOutput(fields.Output):
    """The counts of a rollback."""

    def get_fields(self) -> dict[str, Any]:
        return {name: serializers.IntegerField() for name in rollback.FIGURES}

    def to_representation(self, made: dict[str, int]) -> dict[str, Any]:
        return super().to_representation(Counter(made))


class RemainingOutput(fields.Output):
    """What is still to be done, or what a dry run has not checked."""

    conversations = serializers.IntegerField()
    messages = serializers.IntegerField()

    def to_representation(self, row: Withholding) -> dict[str, Any]:
        return super().to_representation(episodic.count(episodic.messages_left(row)))


class RollbackOutput(fields.Output):
    """A rollback of a source, or the preview of one."""

    table = Withholding
    columns = (
        "id? since key_id=posted_by_id? conversation_id=conversation.external_id? speaker role "
        "actor reason created_at? lifted_at done_at"
    )
    role = serializers.CharField(allow_null=True)
    counts = CountsOutput(source="made")
    remaining = RemainingOutput(source="*")


class Rollbacks(Curating):
    """Rolls back a source, and lists rollbacks."""

    @describe_page("list_rollbacks", PlaceQuery, RollbackOutput, "RollbackPage")
    def get(self, request: Request) -> Response:
        rows = Withholding.objects.of(self.tenant()).select_related("conversation")
        return self.list_page(rows, RollbackOutput)

    @describe(
        "roll_back",
        RollbackInput,
        {201: RollbackOutput, 202: RollbackOutput, 200: RollbackOutput, 404: Error},
        description="Reverts everything that came from a source since some moment: its messages "
        "are quarantined (kept, but neither processed nor served), the runs that read them are "
        "reverted, and what else these had read is processed anew. 202: it has posted to more than "
        f"{rollback.CONVERSATIONS_AT_ONCE} conversations, and a worker does one after the other; "
        "`rollbacks/{id}` says how far. With `dry_run` nothing is changed, the answer is 200, and "
        f"the first {rollback.CONVERSATIONS_AT_ONCE} conversations are counted. 404: the source "
        "has posted nothing since then.",
    )
    def post(self, request: Request) -> Response:
        body = self.read(RollbackInput)
        dry_run = body.pop("dry_run")
        row = self._make_row(body)
        if dry_run:
            row.made, remaining, _ = rollback.preview(row)
            unsaved = {"id": None, "created_at": None, "remaining": remaining}
            return Response({**RollbackOutput(row).data, **unsaved})
        rollback.roll_back(row)
        return Response(RollbackOutput(row).data, status=201 if row.done_at else 202)

    def _make_row(self, body: dict[str, Any]) -> Withholding:
        tenant = self.tenant()
        key_id, home_id = body.pop("key_id", None), body.pop("conversation_id", None)
        key = APIKey.objects.of(tenant).filter(id=key_id).first()
        home = Conversation.objects.of(tenant).filter(external_id=home_id).first()
        named = {"key_id": (key_id, key), "conversation_id": (home_id, home)}
        missing = [name for name, (asked, row) in named.items() if asked and row is None]
        if missing:
            message = "There is no such source."
            raise NotFound(message, fields={name: [message] for name in missing})
        own = {"actor": self.actor(), "posted_by": key, "conversation": home}
        return Withholding(tenant=tenant, **own, **body)


class OneRollback(Curating):
    """A rollback by its id."""

    @describe("get_rollback", answers=RollbackOutput)
    def get(self, request: Request, rollback_id: uuid.UUID) -> Response:
        row = get_row(Withholding.objects.of(self.tenant()), "rollback", id=rollback_id)
        return Response(RollbackOutput(row).data)


class LiftRollback(Curating):
    """Lifts a quarantine."""

    @describe("lift_rollback", Reasoned, {200: RollbackOutput, 202: RollbackOutput, 409: Error})
    def post(self, request: Request, rollback_id: uuid.UUID) -> Response:
        act = self.take_act(self.read(Reasoned))
        row = rollback.lift(act=act, withholding_id=rollback_id)
        return Response(RollbackOutput(row).data, status=200 if row.done_at else 202)
