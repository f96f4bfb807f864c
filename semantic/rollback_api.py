"""Undoing what came from one source, and letting it count again."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic import queries as episodic_queries
from episodic.models import Role, Withholding
from episodic.withholding import Source
from memoryproject.errors import NotFound
from memoryproject.fields import (
    FlagField,
    IdField,
    MomentField,
    Strict,
    TextField,
    WordField,
    say_moment,
)
from memoryproject.pages import PAGE, PAGE_AT_MOST, QueryNumberField, page_schema, take_page
from memoryproject.schema import Error
from memoryproject.tenancy.models import APIKey
from semantic import rollback
from semantic.curation_api import AGAIN, Curating
from semantic.forms import Reasoned
from semantic.rollback import Counts


class RollbackInput(Reasoned):
    """The body of `rollbacks`: all that is given must fit; a source must be named."""

    since = MomentField(help_text="What was received from then on, by the server's clock.")
    key_id = IdField(required=False, help_text="The API key that posted it.")
    conversation_id = IdField(required=False, help_text="Only in this conversation.")
    speaker = TextField(required=False, max_length=200, help_text="The messages' `name`.")
    role = WordField(choices=Role.choices, required=False)
    dry_run = FlagField(default=False, help_text="Only say what it would come to.")


class CountsOutput(serializers.Serializer[Any]):
    """What undoing a source comes to."""

    conversations = serializers.IntegerField()
    messages = serializers.IntegerField(help_text="Withheld: kept, neither learnt from nor served.")
    episodes = serializers.IntegerField(help_text="Taken apart: they held such messages.")
    returned = serializers.IntegerField(help_text="Other messages in them, which are made anew.")
    runs = serializers.IntegerField(help_text="Reverted: they had read such messages.")
    closed = serializers.IntegerField(help_text="Facts held no longer, or waiting no longer.")
    reopened = serializers.IntegerField(help_text="Facts held again.")
    redrawn = serializers.IntegerField(help_text="Other episodes, from which facts are drawn anew.")
    left = serializers.IntegerField(help_text="Facts that people have changed since: left alone.")


class RollbackOutput(serializers.Serializer[Any]):
    """What withholds a source, or would."""

    id = serializers.UUIDField(allow_null=True, help_text="null: a dry run.")
    since = serializers.DateTimeField()
    key_id = serializers.UUIDField(allow_null=True)
    conversation_id = serializers.UUIDField(allow_null=True)
    speaker = serializers.CharField(allow_null=True)
    role = serializers.CharField(allow_null=True)
    actor = serializers.CharField()
    reason = serializers.CharField()
    created_at = serializers.DateTimeField(allow_null=True)
    lifted_at = serializers.DateTimeField(allow_null=True, help_text="null: it stands.")
    counts = CountsOutput()


class RollbackQuery(Strict):
    """The query parameters of the list of rollbacks."""

    after = IdField(required=False, help_text="The `next` of the page before.")
    limit = QueryNumberField(default=PAGE, min_value=1, max_value=PAGE_AT_MOST)


class Rollbacks(Curating):
    """Undoes what came from a source, and lists what was undone."""

    @extend_schema(
        operation_id="list_rollbacks",
        parameters=[RollbackQuery],
        responses=page_schema(RollbackOutput, "RollbackPage"),
    )
    def get(self, request: Request) -> Response:
        query = self.read(RollbackQuery, request.query_params.dict())
        rows = Withholding.objects.of(self.tenant()).select_related("conversation")
        return Response(
            take_page(rows, query=query, render=lambda page: [_render(row) for row in page])
        )

    @extend_schema(
        operation_id="roll_back",
        request=RollbackInput,
        responses={201: RollbackOutput, 200: RollbackOutput, 404: Error},
        description="Undoes everything that came from a source since some moment: its messages "
        "are withheld (kept, but neither learnt from nor served), the runs that read them are "
        "reverted, and what else these had read is learnt anew. With `dry_run` nothing is "
        "changed, and the answer is 200. 404: the source has said nothing since then.",
    )
    def post(self, request: Request) -> Response:
        given = self.read(RollbackInput)
        act, source = self.act(given["reason"]), self._find_source(given)
        done = rollback.roll_back(act=act, source=source, dry_run=given["dry_run"])
        if done.withholding is not None:
            return Response(_render(done.withholding), status=201)
        planned = Withholding(
            since=source.since,
            posted_by=source.posted_by,
            conversation=source.conversation,
            speaker=source.speaker,
            role=source.role,
            actor=act.actor,
            reason=act.reason,
            made=done.counts.to_json(),
        )
        return Response(_render(planned, is_made=False))

    def _find_source(self, given: dict[str, Any]) -> Source:
        key, conversation = None, None
        if "key_id" in given:
            key = APIKey.objects.of(self.tenant()).filter(id=given["key_id"]).first()
        if "conversation_id" in given:
            conversation = episodic_queries.find_conversation(
                tenant=self.tenant(), external_id=given["conversation_id"]
            )
        missing = [
            name
            for name, found in (("key_id", key), ("conversation_id", conversation))
            if name in given and found is None
        ]
        if missing:
            said = ["There is no such source."]
            raise NotFound(said[0], fields=dict.fromkeys(missing, said))
        return Source(
            since=given["since"],
            posted_by=key,
            conversation=conversation,
            speaker=given.get("speaker", ""),
            role=given.get("role", ""),
        )


class LiftRollback(Curating):
    """Lets count again what was withheld."""

    @extend_schema(
        operation_id="lift_rollback",
        request=Reasoned,
        responses={200: RollbackOutput, 409: Error},
        description="Lets count again what was withheld: its messages return to the window, and "
        "episodes and facts are made of them like of new ones. 409: it is lifted already." + AGAIN,
    )
    def post(self, request: Request, rollback_id: uuid.UUID) -> Response:
        given = self.read(Reasoned)
        lifted = rollback.lift(act=self.act(given["reason"]), withholding_id=rollback_id)
        return Response(_render(lifted))


def _render(row: Withholding, *, is_made: bool = True) -> dict[str, Any]:
    home = row.conversation
    return {
        "id": str(row.id) if is_made else None,
        "since": say_moment(row.since),
        "key_id": str(row.posted_by_id) if row.posted_by_id else None,
        "conversation_id": str(home.external_id) if home else None,
        "speaker": row.speaker or None,
        "role": row.role or None,
        "actor": row.actor,
        "reason": row.reason,
        "created_at": say_moment(row.created_at) if is_made else None,
        "lifted_at": say_moment(row.lifted_at) if row.lifted_at else None,
        "counts": {**Counts().to_json(), **row.made},
    }
