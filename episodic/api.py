"""Posting messages, flushing a conversation, and taking up what was set aside."""

import hashlib
import json
import uuid
from collections.abc import Callable
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic import queries, services
from episodic.models import Role
from episodic.services import IdempotencyKey, NewMessage, Posted
from memoryproject.edge import fields
from memoryproject.edge.errors import Conflict, Problem
from memoryproject.edge.schema import Error, View, describe
from memoryproject.process import traces
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView

IDEMPOTENCY_HEADER = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": "^[!-~]([ -~]{0,253}[!-~])?$"},
    OpenApiParameter.HEADER,
    description="Send the same key again after a lost answer: nothing is stored twice.",
)


OWNER = "The first call that names one decides; another one later is refused with 409."


def describe_storing(call: str, body: Any, answer: Any) -> Callable[[View], View]:
    """Describe a call that stores what its body holds, once for each idempotency key."""
    answers = {201: answer, 200: answer, 409: Error, 410: Error}
    return describe(call, body, answers, parameters=[IDEMPOTENCY_HEADER])


class MessageInput(fields.Strict):
    """One message, as an agent posts it."""

    role = fields.WordField(choices=Role.choices)
    content = fields.ContentField()
    timestamp = fields.MomentField(required=False)
    name = fields.TextField(required=False, max_length=200)
    metadata = fields.MetadataField(required=False)


class AddInput(fields.Strict):
    """What both calls take that store messages."""

    conversation_id = fields.IdField()
    user_id = fields.NameField(help_text=f"Whose the conversation is, by your own id. {OWNER}")
    agent_id = fields.NameField(help_text=f"Which agent leads it, by your own id. {OWNER}")


class AddMessageInput(AddInput):
    """The body of `add_message`."""

    message = MessageInput()


class AddMessagesInput(fields.Batch, AddInput):
    """The body of `add_messages`."""

    listed = "messages"
    messages = MessageInput(many=True, allow_empty=False)


class StoredMessage(serializers.Serializer[Any]):
    """Where a message was stored."""

    message_id = serializers.UUIDField(source="id")
    seq = serializers.IntegerField()


class AddMessageOutput(StoredMessage):
    """The answer of `add_message`."""

    conversation_id = serializers.UUIDField()
    pending = serializers.IntegerField()


class AddMessagesOutput(serializers.Serializer[Any]):
    """The answer of `add_messages`."""

    conversation_id = serializers.UUIDField()
    messages = StoredMessage(many=True)
    pending = serializers.IntegerField()


class AddView(KeyedView):
    """Stores messages for the caller."""

    for_users = True
    scope = Scope.INGEST
    memory_operations = {"POST": "create_memory"}

    def add(self, params: dict[str, Any], messages: list[dict[str, Any]]) -> Posted:
        """Store checked messages in the conversation that the checked body names."""
        now = timezone.now()
        place = str(params["conversation_id"])
        known = {traces.CONVERSATION: place, traces.RECORDS: len(messages)}
        traces.describe(known)
        return services.add_messages(
            tenant=self.tenant(),
            posted_by=self.key(),
            external_id=params["conversation_id"],
            user_id=params.get("user_id", ""),
            agent_id=params.get("agent_id", ""),
            messages=[
                NewMessage(**{"occurred_at": message.pop("timestamp", now), **message})
                for message in messages
            ],
            idempotency=read_idempotency(self.request),
            capped=True,
        )

    def respond(self, external_id: uuid.UUID, posted: Posted, shown: dict[str, Any]) -> Response:
        """Return the answer, which says whether an earlier request stored them."""
        pending = posted.messages[-1].pending_after
        body = {"conversation_id": str(external_id), **shown, "pending": pending}
        if posted.replayed:
            return Response(body, headers={"Idempotent-Replayed": "true"})
        return Response(body, status=201)


class AddMessage(AddView):
    """Stores one message."""

    @describe_storing("add_message", AddMessageInput, AddMessageOutput)
    def post(self, request: Request) -> Response:
        params = self.read(AddMessageInput)
        posted = self.add(params, [params["message"]])
        shown = StoredMessage(posted.messages[0]).data
        return self.respond(params["conversation_id"], posted, shown)


class AddMessages(AddView):
    """Stores a batch of messages, all or nothing."""

    @describe_storing("add_messages", AddMessagesInput, AddMessagesOutput)
    def post(self, request: Request) -> Response:
        params = self.read(AddMessagesInput)
        posted = self.add(params, params["messages"])
        shown = {"messages": StoredMessage(posted.messages, many=True).data}
        return self.respond(params["conversation_id"], posted, shown)


def read_idempotency(request: Request) -> IdempotencyKey | None:
    """Return the request's idempotency key with the hash of its body, if it has one."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    if not 1 <= len(key) <= 255 or not key.isascii() or not key.isprintable():
        wrong = "This must be 1 to 255 printable ASCII characters."
        raise Problem("A header has errors.", fields={"Idempotency-Key": [wrong]})
    body = json.dumps(request.data, sort_keys=True).encode()
    return IdempotencyKey(key=key, body_sha256=hashlib.sha256(body).hexdigest())


class FlushInput(fields.Strict):
    """The body of `flush`."""

    conversation_id = fields.IdField()


class FlushOutput(serializers.Serializer[Any]):
    """The answer of `flush`."""

    job_id = serializers.UUIDField()


class Flush(KeyedView):
    """Segments and consolidates now."""

    for_users = True
    scope = Scope.INGEST

    @describe("flush", FlushInput, {202: FlushOutput, 404: Error})
    def post(self, request: Request) -> Response:
        params = self.read(FlushInput)
        conversation = queries.get_by_external_id(self.tenant(), params["conversation_id"])
        job = services.request_flush(conversation=conversation)
        return Response({"job_id": str(job.id)}, status=202)


class RetrySetAside(KeyedView):
    """Takes up again what jobs could not get past."""

    scope = Scope.ADMIN

    @describe("retry_conversation", None, {202: FlushOutput, 409: Error})
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        conversation = queries.get_by_external_id(self.tenant(), conversation_id)
        job = services.retry_set_aside(conversation)
        if job is None:
            raise Conflict("Nothing of this conversation is set aside.")
        return Response({"job_id": str(job.id)}, status=202)
