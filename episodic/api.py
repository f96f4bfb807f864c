"""The calls that post messages, flush a conversation, and retry what was set aside."""

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic import chat_shapes, moving, queries, services
from episodic.models import Message, Role
from episodic.services import IdempotencyKey
from memoryproject.edge import fields
from memoryproject.edge.errors import Conflict, Problem
from memoryproject.edge.schema import Error, View, describe
from memoryproject.process import traces
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from memoryproject.text.dates import read_offset

IDEMPOTENCY_HEADER = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": "^[!-~]([ -~]{0,253}[!-~])?$"},
    OpenApiParameter.HEADER,
    description="Send the same key again after a lost answer: nothing is stored twice.",
)
REPLAYED = OpenApiParameter(
    "Idempotent-Replayed",
    str,
    OpenApiParameter.HEADER,
    description="`true` in a replay; absent otherwise.",
    response=[200, 201],
)

Show = Callable[[list[Message]], Mapping[str, Any]]


def describe_storing(
    call: str, body: Any, answer: Any, headers: str = ""
) -> Callable[[View], View]:
    """Describe a call that stores what its body holds, once for each idempotency key."""
    replay = "A replay: the first answer to this Idempotency-Key. Nothing was stored again."
    answers = {201: answer, 200: OpenApiResponse(answer, replay), 409: Error, 410: Error}
    return describe(call, body, answers, headers, parameters=[IDEMPOTENCY_HEADER, REPLAYED])


@extend_schema_field(
    {
        "oneOf": [
            fields.SAYS_SOMETHING,
            {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "type": {"type": "string", "minLength": 1},
                        "text": fields.SAYS_SOMETHING,
                    },
                    "required": ["type"],
                },
                "description": "OpenAI's content parts: their texts are stored, a line each; "
                "a part without text is named, as in `[image_url]`.",
            },
        ]
    }
)
class SaidField(fields.ContentField):
    """The content of a message: a text, or a list of parts."""

    cap = "MAX_MESSAGE_BYTES"

    def to_internal_value(self, value: Any) -> str:
        return super().to_internal_value(chat_shapes.join_parts(value))


class MessageInput(fields.Strict):
    """One message, as an agent posts it, or as OpenAI's chat API shapes it."""

    role = fields.WordField("Who speaks.", choices=chat_shapes.ROLES)
    content = SaidField(
        "What was said, up to 256 KiB; stored unchanged. Or OpenAI's content parts: their texts "
        "are stored, a line each."
    )
    timestamp = fields.ToldMomentField(
        "When it was said. ISO 8601 or ms since 1970; default: now. The speaker's days, such as "
        '"yesterday", go by its offset.',
        required=False,
    )
    name = fields.TextField(
        "The speaker's name; facts will use it.", required=False, max_length=200
    )
    user_id = fields.NameField(
        "Whose it is, by your own id, where it is not the conversation's user who speaks. That "
        "user finds it in all his conversations, and nobody else finds it in theirs."
    )
    metadata = fields.MetadataField(
        "Anything of yours, up to 16 KiB as JSON; returned untouched.", required=False
    )
    external_id = fields.NameField(
        "Your own id of it. Kept in the metadata, which answers return; list_messages finds it."
    )
    tool_calls = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Kept in the metadata. A message without content says which tools it calls.",
    )
    tool_call_id = fields.NameField("Kept in the metadata.")

    def to_internal_value(self, value: Any) -> Any:
        return super().to_internal_value(
            chat_shapes.keep_in_metadata(value) if isinstance(value, Mapping) else value
        )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for name in chat_shapes.KEPT:  # in the metadata by now
            attrs.pop(name, None)
        if attrs["role"] == chat_shapes.DEVELOPER:
            attrs["role"] = Role.SYSTEM
        return attrs


def make_message(checked: dict[str, Any], *, now: datetime) -> Message:
    """Return a message to store; without a time of its own it gets the current time."""
    said_at = checked.pop("timestamp", now)
    return Message(occurred_at=said_at, utc_offset=read_offset(said_at), **checked)


class AddInput(fields.Strict):
    """Fields shared by both calls that store messages."""

    conversation_id = fields.IdField("Any UUID of yours; the conversation starts with it.")
    user_id = fields.NameField(
        "Whose the conversation is, by your own id. The first call that names one decides; "
        "another one later is refused with 409."
    )
    agent_id = fields.NameField(
        "Which agent leads it, by your own id. The first call that names one decides; another one "
        "later is refused with 409."
    )


class AddMessageInput(AddInput):
    """The body of `add_message`."""

    message = MessageInput(help_text="What was said.")


class AddMessagesInput(fields.Batch, AddInput):
    """The body of `add_messages`."""

    listed = "messages"
    messages = MessageInput(many=True, allow_empty=False, help_text="1 to 500, in order.")


class StoredMessage(serializers.Serializer[Any]):
    """The place where a message was stored."""

    message_id = serializers.UUIDField(source="id", help_text="The id of a message.")
    seq = serializers.IntegerField(help_text="Its place in the conversation: 1, 2, 3, …")


class AheadField(serializers.ListField):
    """The messages whose time is more than a day ahead of the server's clock."""

    child = serializers.IntegerField()

    def __init__(self) -> None:
        super().__init__(
            required=False,
            help_text="Where there are any: seq of messages whose time is over a day ahead of the "
            "server's clock. They are kept as told.",
        )


class AddMessageOutput(StoredMessage):
    """The answer of `add_message`."""

    conversation_id = serializers.UUIDField(help_text=fields.CONVERSATION)
    pending = serializers.IntegerField(help_text="Messages not in an episode yet, this included.")
    ahead = AheadField()


class AddMessagesOutput(serializers.Serializer[Any]):
    """The answer of `add_messages`."""

    conversation_id = serializers.UUIDField(help_text=fields.CONVERSATION)
    messages = StoredMessage(
        many=True, help_text="Where each message was stored, in the order of the body."
    )
    pending = serializers.IntegerField(help_text="Messages not in an episode yet.")
    ahead = AheadField()


class AddView(KeyedView):
    """Stores messages for the caller."""

    for_users = True
    scope = Scope.INGEST
    memory_operations = {"POST": "create_memory"}

    def store(self, params: dict[str, Any], messages: list[dict[str, Any]], show: Show) -> Response:
        """Store checked messages in the conversation that the checked body names, and answer."""
        now = timezone.now()
        place = str(params["conversation_id"])
        traces.describe({traces.CONVERSATION: place, traces.RECORDS: len(messages)})
        posted = services.add_messages(
            tenant=self.tenant(),
            posted_by=self.key(),
            external_id=params["conversation_id"],
            user_id=params.get("user_id", ""),
            agent_id=params.get("agent_id", ""),
            messages=[make_message(message, now=now) for message in messages],
            idempotency=read_idempotency(self.request),
            capped=True,
        )
        pending = posted.messages[-1].pending_after
        body = {"conversation_id": place, **show(posted.messages), "pending": pending}
        ahead = [
            row.seq
            for row in posted.messages
            if row.occurred_at - (row.received_at if posted.replayed else now) > fields.DAY
        ]
        if ahead:
            body["ahead"] = ahead
        return respond_stored(body, replayed=posted.replayed)


class AddMessage(AddView):
    @describe_storing("add_message", AddMessageInput, AddMessageOutput)
    def post(self, request: Request) -> Response:
        """Store one message.

        Stores one message at once; episodes and facts follow in the background.
        201: The message is stored, and where it stands in its conversation.
        409: The Idempotency-Key was used in this conversation with another body, or the
            conversation is another user's or agent's.
        410: What was posted under this Idempotency-Key was erased, and is not stored again.
        """
        params = self.read(AddMessageInput)
        return self.store(params, [params["message"]], lambda rows: StoredMessage(rows[0]).data)


class AddMessages(AddView):
    @describe_storing("add_messages", AddMessagesInput, AddMessagesOutput)
    def post(self, request: Request) -> Response:
        """Store up to 500 messages, all or nothing.

        Stores up to 500 messages of one conversation, in order, all or nothing.
        201: The messages are stored, and where each stands in its conversation.
        409: The Idempotency-Key was used in this conversation with another body, or the
            conversation is another user's or agent's.
        410: What was posted under this Idempotency-Key was erased, and is not stored again.
        """
        params = self.read(AddMessagesInput)
        return self.store(
            params,
            params["messages"],
            lambda rows: {"messages": StoredMessage(rows, many=True).data},
        )


def respond_stored(
    body: dict[str, Any], *, replayed: bool, headers: dict[str, str] | None = None
) -> Response:
    """Return the answer to what stored something, or had stored it before under the same key."""
    replay = {"Idempotent-Replayed": "true"} if replayed else {}
    return Response(body, status=200 if replayed else 201, headers={**(headers or {}), **replay})


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

    conversation_id = fields.IdField(fields.CONVERSATION)


class FlushOutput(serializers.Serializer[Any]):
    """The answer of `flush`."""

    job_id = serializers.UUIDField(help_text="Ask `jobs/{id}` until its state is done.")


class Flush(KeyedView):
    for_users = True
    scope = Scope.INGEST

    @describe("flush", FlushInput, {202: FlushOutput, 404: Error})
    def post(self, request: Request) -> Response:
        """Make episodes and facts of everything said so far, now.

        Segments the whole window now, whatever its size, then consolidates every episode that has
        not been yet.
        202: A job does it; one that was ready for this conversation already is joined.
        """
        params = self.read(FlushInput)
        conversation = queries.get_by_external_id(self.tenant(), params["conversation_id"])
        job = services.request_flush(conversation=conversation)
        return Response({"job_id": str(job.id)}, status=202)


class CloseConversation(KeyedView):
    for_users = True
    scope = Scope.INGEST

    @describe("close_conversation", None, {202: FlushOutput, 404: Error})
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """End a session.

        Does for a conversation what `flush` does, now that a session is over: makes episodes and
        facts of everything said so far. What is posted later opens it again.
        202: A job does it; one that was ready for this conversation already is joined.
        """
        conversation = queries.get_by_external_id(self.tenant(), conversation_id)
        job = services.request_flush(conversation=conversation)
        return Response({"job_id": str(job.id)}, status=202)


class RetrySetAside(KeyedView):
    scope = Scope.ADMIN

    @describe("retry_conversation", None, {202: FlushOutput, 409: Error})
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Run again what jobs have set aside.

        Messages that were set aside return to the window, episodes whose facts could not be drawn
        become fresh, and everything is flushed.
        202: A job flushes the conversation, with what was set aside.
        409: Nothing of the conversation is set aside.
        """
        conversation = queries.get_by_external_id(self.tenant(), conversation_id)
        job = services.retry_set_aside(conversation)
        if job is None:
            raise Conflict("Nothing of this conversation is set aside.")
        return Response({"job_id": str(job.id)}, status=202)


class MoveInput(fields.Strict):
    """The body of `conversations/{id}/user`."""

    user_id = fields.NameField("The new user; empty: nobody.", required=True, allow_blank=True)


class MoveOutput(serializers.Serializer[Any]):
    """The user that a conversation belonged to before."""

    previous_user_id = serializers.CharField(
        allow_null=True, help_text="Whose it was; null: nobody's."
    )


class ConversationUser(KeyedView):
    scope = Scope.ADMIN

    @describe("move_conversation", MoveInput, {202: MoveOutput, 404: Error, 409: Error})
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Give a conversation to another user.

        A job moves what can be found of the conversation; until it is done the conversation is the
        user's whose it was, and from then on the other one's. Undone by giving it back. A
        conversation that gets its first user by `add_messages` is moved likewise. Not for keys that
        are bound to users.
        202: A worker moves it soon.
        409: It is that user's already.
        """
        user_id = self.read(MoveInput)["user_id"]
        previous = moving.change_user(
            tenant=self.tenant(), external_id=conversation_id, user_id=user_id
        )
        return Response({"previous_user_id": previous or None}, status=202)
