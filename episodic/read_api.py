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
from memoryproject.edge.fields import (
    CONVERSATION,
    Column,
    IdField,
    NameField,
    Output,
    Strict,
    TextField,
)
from memoryproject.edge.schema import describe
from memoryproject.tenancy.views import ReadView


class OwnerOutput(Output):
    """The user and agent that a conversation belongs to."""

    table = Conversation
    user_id = Column("Whose the conversation is, by your own id; null: nobody was named.")
    agent_id = Column("Which agent leads the conversation, by your own id; null: none was named.")


class ListedConversation(OwnerOutput):
    """A conversation in the list."""

    id = Column("The UUID that the agent chose.", "external_id")
    pending = Column("Messages that no episode holds yet.", "pending_count")
    created_at = Column("When the server first heard of it.")


class ConversationQuery(pages.PlaceQuery):
    user_id = NameField("Only this user's.")
    agent_id = NameField("Only this agent's.")


class Conversations(ReadView):
    for_users = True

    @pages.describe_page(
        "list_conversations", ConversationQuery, ListedConversation, "ConversationPage"
    )
    def get(self, request: Request) -> Response:
        """List conversations.

        200: A page of conversations, newest first: of all, of a user, or of an agent.
        """
        rows = Conversation.objects.of(self.tenant())
        return self.list_page(rows, ListedConversation, self.read_query(ConversationQuery))


class MessageOutput(Output):
    """A stored message."""

    table = Message
    id = Column("The id of the message.")
    conversation_id = Column(CONVERSATION, "conversation.external_id")
    seq = Column("Its place in the conversation: 1, 2, 3, …; only what was erased leaves a gap.")
    role = serializers.CharField(help_text="Who speaks: user, assistant, system or tool.")
    name = Column("The speaker's name; null: none was given.")
    content = Column("What was said, as it was posted.")
    timestamp = Column("When it was said, by the agent's clock.", "occurred_at")
    received_at = Column("When the server stored it.")
    metadata = Column("What the agent gave with the message, unchanged.")
    episode_id = Column("null: not yet processed.")
    posted_by = Column("The key that posted it.")
    withheld_by = Column("The rollback that quarantined it; null: none.")
    user_id = serializers.CharField(
        required=False,
        help_text="Whose it is, by your own id; left out where the message names nobody: then it "
        "is the conversation's user's.",
    )

    def to_representation(self, instance: Message) -> dict[str, Any]:
        """Return a message; its user is included only if it names one of its own."""
        shown = super().to_representation(instance)
        if not shown["user_id"]:
            del shown["user_id"]
        return shown


class MessageQuery(Strict):
    conversation_id = IdField(CONVERSATION, source="conversation__external_id")
    name = TextField("Only what this speaker said.", required=False, max_length=200)
    external_id = NameField("Only what you call so.", source="metadata__external_id")
    after = pages.QueryNumberField(
        "Only seq above this.", required=False, source="seq__gt", min_value=0
    )
    limit = pages.LimitField()


class Messages(ReadView):
    for_users = True

    @pages.describe_page("list_messages", MessageQuery, MessageOutput, "MessagePage")
    def get(self, request: Request) -> Response:
        """List the messages of a conversation.

        200: A page of messages, oldest first.
        """
        query = self.read_query(MessageQuery)
        limit = query.pop("limit")
        rows = Message.objects.of(self.tenant()).filter(**query).select_related("conversation")
        messages = rows.order_by("seq")
        page, more = self.read_rows(lambda: pages.load_rows(messages, limit, place="seq"))
        after = str(page[-1].seq) if more else None
        return Response({"items": MessageOutput(page, many=True).data, "next": after})


class OneMessage(ReadView):
    for_users = True

    @describe("get_message", answers=MessageOutput)
    def get(self, request: Request, message_id: uuid.UUID) -> Response:
        """Show a message.

        A message by its id, as a receipt or a fact's evidence names it.
        200: The message as it was posted.
        """
        rows = Message.objects.of(self.tenant()).select_related("conversation")
        return Response(MessageOutput(get_row(rows, "message", id=message_id)).data)


class EpisodeOutput(Output):
    """An episode without its messages."""

    table = Episode
    id = Column("The id of the episode.")
    conversation_id = Column(CONVERSATION, "conversation.external_id")
    title = Column("What it was about, in 5 to 15 words.")
    summary = Column("What happened, in at most 50 words.")
    stability = Column("FSRS: days until the chance that it is still remembered falls to 0.9.")
    difficulty = Column("FSRS: from 1 (easy to remember) to 10.")
    surprise = Column("From 0 (expected) to 1 (changes everything); it does not change.")
    start_at = Column("When its first message was said.")
    end_at = Column("When its last message was said.")
    created_at = Column("When the episode was made.")
    last_reviewed_at = Column(
        "When it was last rated by how it was used in answers; at first `created_at`."
    )
    consolidated_at = Column("When facts were derived from it; null: not yet.")


class ListedEpisode(EpisodeOutput):
    """An episode in the list."""

    table = Episode
    first_seq = Column("The `seq` of its first message.")
    last_seq = Column("The `seq` of its last message.")
    degraded = Column("The offline engine stood in for a model.")


class EpisodeQuery(pages.PageQuery):
    known_at = pages.QueryMomentField(
        "Those that there were then, also where their source was rolled back since.",
        required=False,
        source="created_at__lte",
    )
    as_of = pages.QueryMomentField(
        "Those that had begun then.", required=False, source="start_at__lte"
    )


class Episodes(ReadView):
    for_users = True

    @pages.describe_page("list_episodes", EpisodeQuery, ListedEpisode, "EpisodePage")
    def get(self, request: Request) -> Response:
        """List episodes.

        200: A page of episodes, newest first, without their messages.
        """
        query = self.read_query(EpisodeQuery)
        rows = Episode.objects.of(self.tenant()).select_related("conversation")
        counts = Q(withheld_by=None)
        if known_at := query.get("created_at__lte"):
            counts |= Q(withheld_by__created_at__gt=known_at)
        return self.list_page(rows.filter(counts), ListedEpisode, query)
