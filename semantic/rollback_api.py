"""Undoing what came from one source, and letting it count again."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic import queries as episodic_queries
from episodic import withholding as episodic
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
from semantic.curation import Act
from semantic.curation_api import AGAIN, Curating
from semantic.forms import Reasoned
from semantic.rollback import Preview
from semantic.undoing import Counts


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


class RemainingOutput(serializers.Serializer[Any]):
    """What is still to be done, or what a dry run has not looked at."""

    conversations = serializers.IntegerField()
    messages = serializers.IntegerField()


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
    done_at = serializers.DateTimeField(
        allow_null=True, help_text="null: a worker goes on, with it or with lifting it."
    )
    counts = CountsOutput()
    remaining = RemainingOutput()


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
        rows = Withholding.objects.of(self.tenant()).select_related("conversation", "posted_by")
        return Response(
            take_page(rows, query=query, render=lambda page: [_render(row) for row in page])
        )

    @extend_schema(
        operation_id="roll_back",
        request=RollbackInput,
        responses={201: RollbackOutput, 202: RollbackOutput, 200: RollbackOutput, 404: Error},
        description="Undoes everything that came from a source since some moment: its messages "
        "are withheld (kept, but neither learnt from nor served), the runs that read them are "
        "reverted, and what else these had read is learnt anew. 202: it has spoken in more than "
        f"{rollback.WAITED_FOR} conversations, and a worker does one after the other; "
        "`rollbacks/{id}` says how far. With `dry_run` nothing is changed, the answer is 200, and "
        f"the first {rollback.WAITED_FOR} conversations are counted. 404: the source has said "
        "nothing since then.",
    )
    def post(self, request: Request) -> Response:
        given = self.read(RollbackInput)
        act, source = self.act(given["reason"]), self._find_source(given)
        if given["dry_run"]:
            return Response(_render_preview(act, source, rollback.preview(act=act, source=source)))
        made = rollback.roll_back(act=act, source=source)
        return Response(_render(made), status=201 if made.done_at else 202)

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


class OneRollback(Curating):
    """A rollback by its id."""

    @extend_schema(operation_id="get_rollback", responses=RollbackOutput)
    def get(self, request: Request, rollback_id: uuid.UUID) -> Response:
        row = Withholding.objects.of(self.tenant()).filter(id=rollback_id).first()
        if row is None:
            raise NotFound("There is no such rollback.")
        return Response(_render(row))


class LiftRollback(Curating):
    """Lets count again what was withheld."""

    @extend_schema(
        operation_id="lift_rollback",
        request=Reasoned,
        responses={200: RollbackOutput, 202: RollbackOutput, 409: Error},
        description="Lets count again what was withheld: its messages return to the window, and "
        "episodes and facts are made of them like of new ones. 202: a worker goes on with it. "
        "409: it is lifted already." + AGAIN,
    )
    def post(self, request: Request, rollback_id: uuid.UUID) -> Response:
        given = self.read(Reasoned)
        lifted = rollback.lift(act=self.act(given["reason"]), withholding_id=rollback_id)
        return Response(_render(lifted), status=200 if lifted.done_at else 202)


def _render(row: Withholding) -> dict[str, Any]:
    conversations, messages = episodic.count(episodic.messages_left(row))
    return {
        "id": str(row.id),
        **_render_source(episodic.source_of(row)),
        "actor": row.actor,
        "reason": row.reason,
        "created_at": say_moment(row.created_at),
        "lifted_at": say_moment(row.lifted_at) if row.lifted_at else None,
        "done_at": say_moment(row.done_at) if row.done_at else None,
        "counts": {**Counts().to_json(), **row.made},
        "remaining": {"conversations": conversations, "messages": messages},
    }


def _render_preview(act: Act, source: Source, found: Preview) -> dict[str, Any]:
    return {
        "id": None,
        **_render_source(source),
        "actor": act.actor,
        "reason": act.reason,
        "created_at": None,
        "lifted_at": None,
        "done_at": None,
        "counts": found.counts.to_json(),
        "remaining": {"conversations": found.conversations, "messages": found.messages},
    }


def _render_source(source: Source) -> dict[str, Any]:
    return {
        "since": say_moment(source.since),
        "key_id": str(source.posted_by.id) if source.posted_by else None,
        "conversation_id": str(source.conversation.external_id) if source.conversation else None,
        "speaker": source.speaker or None,
        "role": source.role or None,
    }
