"""Listing messages and episodes, and showing one message."""

import uuid
from typing import Any

from django.db.models import Q
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic.models import Conversation, Episode, Message
from memoryproject.edge import pages
from memoryproject.edge.errors import get_row
from memoryproject.edge.fields import IdField, NameField, Output, Strict, TextField
from memoryproject.edge.schema import describe
from memoryproject.tenancy.views import ReadView


class OwnerOutput(Output):
    """The user and agent that a conversation belongs to."""

    table, columns = Conversation, "user_id agent_id"


class ListedConversation(OwnerOutput):
    """A conversation in the list."""

    columns = "id=external_id pending created_at"
    pending = serializers.IntegerField(source="pending_count")


class ConversationQuery(pages.PlaceQuery):
    user_id = NameField()
    agent_id = NameField()


class Conversations(ReadView):
    """Lists conversations, newest first."""

    for_users = True

    @pages.describe_page(
        "list_conversations", ConversationQuery, ListedConversation, "ConversationPage"
    )
    def get(self, request: Request) -> Response:
        rows = Conversation.objects.of(self.tenant())
        return self.list_page(rows, ListedConversation, self.read_query(ConversationQuery))


class MessageOutput(Output):
    """A stored message."""

    table = Message
    columns = (
        "id conversation_id=conversation.external_id seq role name content timestamp=occurred_at "
        "received_at metadata episode_id posted_by withheld_by"
    )
    role = serializers.CharField()
    user_id = serializers.CharField(required=False)

    def to_representation(self, instance: Message) -> dict[str, Any]:
        """Return a message; its user is included only if it names one of its own."""
        shown = super().to_representation(instance)
        if not shown["user_id"]:
            del shown["user_id"]
        return shown


class MessageQuery(Strict):
    conversation_id = IdField(source="conversation__external_id")
    name = TextField(required=False, max_length=200)
    external_id = NameField(source="metadata__external_id")
    after = pages.QueryNumberField(required=False, source="seq__gt", min_value=0)
    limit = pages.QueryNumberField(default=pages.PAGE, min_value=1, max_value=pages.PAGE_AT_MOST)


class Messages(ReadView):
    """Lists the messages of a conversation, oldest first."""

    for_users = True

    @pages.describe_page("list_messages", MessageQuery, MessageOutput, "MessagePage")
    def get(self, request: Request) -> Response:
        query = self.read_query(MessageQuery)
        limit = query.pop("limit")
        rows = Message.objects.of(self.tenant()).filter(**query).select_related("conversation")
        messages = rows.order_by("seq")
        page, more = self.read_rows(lambda: pages.load_rows(messages, limit, place="seq"))
        after = str(page[-1].seq) if more else None
        return Response({"items": MessageOutput(page, many=True).data, "next": after})


class OneMessage(ReadView):
    """A message by its id, as a receipt or a fact's evidence names it."""

    for_users = True

    @describe("get_message", answers=MessageOutput)
    def get(self, request: Request, message_id: uuid.UUID) -> Response:
        rows = Message.objects.of(self.tenant()).select_related("conversation")
        return Response(MessageOutput(get_row(rows, "message", id=message_id)).data)


class EpisodeOutput(Output):
    """An episode without its messages."""

    table = Episode
    columns = (
        "id conversation_id=conversation.external_id title summary stability difficulty surprise "
        "start_at end_at created_at last_reviewed_at consolidated_at"
    )


class ListedEpisode(EpisodeOutput):
    """An episode in the list."""

    table, columns = Episode, "first_seq last_seq degraded"


class EpisodeQuery(pages.PageQuery):
    known_at = pages.QueryMomentField(required=False, source="created_at__lte")
    as_of = pages.QueryMomentField(required=False, source="start_at__lte")


class Episodes(ReadView):
    """Lists episodes, newest first."""

    for_users = True

    @pages.describe_page("list_episodes", EpisodeQuery, ListedEpisode, "EpisodePage")
    def get(self, request: Request) -> Response:
        query = self.read_query(EpisodeQuery)
        rows = Episode.objects.of(self.tenant()).select_related("conversation")
        counts = Q(withheld_by=None)
        if known_at := query.get("created_at__lte"):
            counts |= Q(withheld_by__created_at__gt=known_at)
        return self.list_page(rows.filter(counts), ListedEpisode, query)
