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

    since = fields.MomentField("What was received from then on, by the server's clock.")
    key_id = fields.IdField("The API key that posted it.", required=False)
    conversation_id = fields.IdField("Only in this conversation.", required=False)
    speaker = fields.TextField("The messages' `name`.", required=False, max_length=200)
    role = fields.WordField(
        "Only messages of this role; null: any.", choices=Role.choices, required=False
    )
    dry_run = fields.FlagField("Preview: change nothing.", default=False)


class CountsOutput(fields.Output):
    """The counts of a rollback."""

    conversations = serializers.IntegerField(help_text="How many conversations.")
    messages = serializers.IntegerField(help_text="Quarantined: neither processed nor served.")
    episodes = serializers.IntegerField(help_text="Deleted: they contain such messages.")
    returned = serializers.IntegerField(help_text="Other messages in them, processed anew.")
    runs = serializers.IntegerField(help_text="Reverted: they had read such messages.")
    closed = serializers.IntegerField(help_text="Facts retired, or no longer pending review.")
    reopened = serializers.IntegerField(help_text="Facts restored.")
    redrawn = serializers.IntegerField(help_text="Other episodes, consolidated anew.")
    left = serializers.IntegerField(help_text="Facts that people have changed since: left alone.")

    def to_representation(self, made: dict[str, int]) -> dict[str, Any]:
        return super().to_representation(Counter(made))


class RemainingOutput(fields.Output):
    """What is still to be done, or what a dry run has not checked."""

    conversations = serializers.IntegerField(help_text="How many conversations.")
    messages = serializers.IntegerField(help_text="How many messages.")

    def to_representation(self, row: Withholding) -> dict[str, Any]:
        return super().to_representation(episodic.count(episodic.messages_left(row)))


class RollbackOutput(fields.Output):
    """A rollback of a source, or the preview of one."""

    table = Withholding
    id = fields.Column("null: a dry run.", allow_null=True)
    since = fields.Column("What the server received from then on is rolled back.")
    key_id = fields.Column(
        "Only what this API key posted; null: any.", "posted_by_id", allow_null=True
    )
    conversation_id = fields.Column(
        "Only this conversation, by the UUID that the agent chose; null: any.",
        "conversation.external_id",
        allow_null=True,
    )
    speaker = fields.Column("Only messages with this `name`; null: any.")
    role = serializers.CharField(
        allow_null=True, help_text="Only messages of this role; null: any."
    )
    actor = fields.Column("Who did it: a key or a person.")
    reason = fields.Column("Why, as it was given.")
    created_at = fields.Column("When it was begun; null: a dry run.", allow_null=True)
    lifted_at = fields.Column("null: still quarantined.")
    done_at = fields.Column("null: a worker still quarantines its messages, or returns them.")
    counts = CountsOutput(source="made", help_text="What was done so far, in numbers.")
    remaining = RemainingOutput(
        source="*", help_text="What is still to be done; of a dry run, what it has not looked at."
    )


class Rollbacks(Curating):
    """Rolls back a source, and lists rollbacks."""

    @describe_page("list_rollbacks", PlaceQuery, RollbackOutput, "RollbackPage")
    def get(self, request: Request) -> Response:
        """List rollbacks.

        200: A page of rollbacks, newest first, those whose quarantine has ended included.
        """
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
        """Roll back everything that came from a source.

        200: The preview that `dry_run` asked for. Nothing was changed.
        201: The rollback is done.
        202: The rollback is on record, and a worker goes on with it.
        404: Your tenant has no such key or conversation, or the source has posted nothing since
            then.
        """
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
    @describe("get_rollback", answers=RollbackOutput)
    def get(self, request: Request, rollback_id: uuid.UUID) -> Response:
        """Show a rollback.

        200: The rollback as it is now.
        """
        row = get_row(Withholding.objects.of(self.tenant()), "rollback", id=rollback_id)
        return Response(RollbackOutput(row).data)


class LiftRollback(Curating):
    @describe("lift_rollback", Reasoned, {200: RollbackOutput, 202: RollbackOutput, 409: Error})
    def post(self, request: Request, rollback_id: uuid.UUID) -> Response:
        """Lift the quarantine of a source.

        Ends the quarantine of a source: its messages return to the window, and are processed like
        new ones. Sent again after a lost answer it answers 409 and changes nothing.
        200: All messages are back.
        202: A worker goes on returning messages.
        409: The quarantine has ended already.
        """
        act = self.take_act(self.read(Reasoned))
        row = rollback.lift(act=act, withholding_id=rollback_id)
        return Response(RollbackOutput(row).data, status=200 if row.done_at else 202)
