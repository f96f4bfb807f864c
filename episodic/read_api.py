"""Listing messages and episodes, and showing one message."""

import uuid

from django.db.models import Q
from django_filters import CharFilter
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic.models import Conversation, Episode, Message
from memoryproject.edge import pages
from memoryproject.edge.errors import get_row
from memoryproject.edge.fields import IdField, NameField, Output, Strict, TextField
from memoryproject.tenancy.views import ReadView


class OwnerOutput(Output):
    """Whose a conversation is."""

    table, columns = Conversation, "user_id agent_id"


class ListedConversation(OwnerOutput):
    """A conversation as the list has it."""

    id = serializers.UUIDField(source="external_id")
    pending = serializers.IntegerField(source="pending_count")
    created_at = serializers.DateTimeField()


class ConversationQuery(pages.PlaceQuery):
    user_id = NameField()
    agent_id = NameField()


class ConversationFilter(pages.PageFilter):
    user_id = CharFilter(strip=False)
    agent_id = CharFilter(strip=False)


class Conversations(ReadView):
    """Lists conversations, newest first."""

    for_users = True

    @pages.describe_page(
        "list_conversations", ConversationQuery, ListedConversation, "ConversationPage"
    )
    def get(self, request: Request) -> Response:
        return self.list_page(
            Conversation.objects.of(self.tenant()),
            ListedConversation,
            form=ConversationQuery,
            filters=ConversationFilter,
        )


class MessageOutput(Output):
    """A stored message."""

    table = Message
    columns = (
        "id conversation_id seq role name content timestamp received_at metadata episode_id "
        "posted_by withheld_by"
    )
    conversation_id = serializers.UUIDField(source="conversation.external_id")
    role = serializers.CharField()
    timestamp = serializers.DateTimeField(source="occurred_at")


class MessageQuery(Strict):
    conversation_id = IdField()
    name = TextField(required=False, max_length=200)
    after = pages.QueryNumberField(required=False, min_value=0)
    limit = pages.QueryNumberField(default=pages.PAGE, min_value=1, max_value=pages.PAGE_AT_MOST)


class Messages(ReadView):
    """Lists the messages of a conversation, oldest first."""

    for_users = True

    @pages.describe_page("list_messages", MessageQuery, MessageOutput, "MessagePage")
    def get(self, request: Request) -> Response:
        query = self.read(MessageQuery, request.query_params.dict())
        rows = Message.objects.of(self.tenant()).filter(
            conversation__external_id=query["conversation_id"], seq__gt=query.get("after", 0)
        )
        if "name" in query:
            rows = rows.filter(name=query["name"])
        messages = rows.select_related("conversation").order_by("seq")
        page, more = self.read_rows(lambda: pages.load_rows(messages, query["limit"], place="seq"))
        after = str(page[-1].seq) if more else None
        return Response({"items": MessageOutput(page, many=True).data, "next": after})


class OneMessage(ReadView):
    """A message by its id, as a receipt or a fact's evidence names it."""

    for_users = True

    @extend_schema(operation_id="get_message", responses=MessageOutput)
    def get(self, request: Request, message_id: uuid.UUID) -> Response:
        rows = Message.objects.of(self.tenant()).select_related("conversation")
        return Response(MessageOutput(get_row(rows, "message", id=message_id)).data)


class EpisodeOutput(Output):
    """An episode without its messages."""

    table = Episode
    columns = (
        "id conversation_id title summary stability difficulty surprise start_at end_at "
        "created_at last_reviewed_at consolidated_at"
    )
    conversation_id = serializers.UUIDField(source="conversation.external_id")


class ListedEpisode(EpisodeOutput):
    """An episode as the list has it."""

    table, columns = Episode, "first_seq last_seq degraded"


class EpisodeQuery(pages.PageQuery):
    known_at = pages.QueryMomentField(required=False)
    as_of = pages.QueryMomentField(required=False)


class Episodes(ReadView):
    """Lists episodes, newest first."""

    for_users = True

    @pages.describe_page("list_episodes", EpisodeQuery, ListedEpisode, "EpisodePage")
    def get(self, request: Request) -> Response:
        query = self.read(EpisodeQuery, request.query_params.dict())
        rows = Episode.objects.of(self.tenant()).select_related("conversation")
        counts = Q(withheld_by=None)
        if "known_at" in query:
            counts |= Q(withheld_by__created_at__gt=query["known_at"])
            rows = rows.filter(created_at__lte=query["known_at"])
        if "as_of" in query:
            rows = rows.filter(start_at__lte=query["as_of"])
        return self.list_page(rows.filter(counts), ListedEpisode, form=EpisodeQuery)
