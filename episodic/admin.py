"""What was said, what happened, and how it was rated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Cast, Concat, Length
from django.http import HttpRequest

from episodic.models import Conversation, Episode, Message, Reveal, Review
from episodic.revealing import Reader
from jobs.models import Job
from memoryproject import admin_values as values
from memoryproject.admin_base import ROWS_AT_MOST, Listing, Listings, ReadOnlyAdmin, Table, Tables


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    list_display = (
        "external_id", "messages", "pending_count", "language", "previous_summary", "created_at",
        "tenant",
    )  # fmt: skip
    list_filter = ("language", "created_at", "tenant")
    search_fields = ("previous_summary",)
    id_search = ("id", "external_id")
    listings: Listings = (
        Listing("Messages", Message, "conversation"),
        Listing("Episodes", Episode, "conversation"),
        Listing("Jobs", Job, "scope"),
    )

    @admin.display(description="messages", ordering="next_seq")
    def messages(self, conversation: Conversation) -> int:
        return conversation.next_seq - 1


def messages_of_episode(request: HttpRequest, episode: Episode) -> Table:
    """Return what was said in an episode, in order."""
    reader = Reader(request.user)
    said = Message.across_tenants.filter(episode=episode).order_by("seq", "id")[:ROWS_AT_MOST]
    return Table(
        "Messages",
        ["seq", "speaker", "content", "said at"],
        [
            [
                values.link(message, message.seq),
                message.name or message.role,
                values.keep_lines(reader.show(message.content, episode.conversation_id)),
                values.moment(message.occurred_at),
            ]
            for message in said
        ],
    )


def reviews_of_episode(request: HttpRequest, episode: Episode) -> Table:
    """Return the ratings of an episode, newest first."""
    given = Review.across_tenants.filter(episode=episode).order_by("-id")[:ROWS_AT_MOST]
    return Table(
        "Reviews",
        ["at", "rating", "stability", "difficulty", "engine", "degraded"],
        [
            [
                values.link(review, values.moment(review.created_at)),
                review.rating,
                f"{review.stability_before:.3g} → {review.stability_after:.3g} days",
                f"{review.difficulty_before:.3g} → {review.difficulty_after:.3g}",
                review.engine,
                values.yes_or_no(review.degraded),
            ]
            for review in given
        ],
    )


@admin.register(Episode)
class EpisodeAdmin(ReadOnlyAdmin):
    list_display = (
        "title", "first_seq", "last_seq", "surprise", "stability", "start_at", "engine",
        "consolidated_at", "conversation", "tenant",
    )  # fmt: skip
    list_filter = ("degraded", "start_at", "created_at", "tenant")
    search_fields = ("title", "summary")
    id_search = ("id", "conversation", "conversation__external_id")
    tables: Tables = (messages_of_episode, reviews_of_episode)


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    """What was said. Who may not read it does not even load it."""

    hidden = ("content", "metadata")
    list_display = (
        "said", "seq", "role", "name", "occurred_at", "conversation", "episode", "tenant",
    )  # fmt: skip
    list_filter = ("role", "occurred_at", "received_at", "tenant")
    search_fields = ("content", "name")
    more_lines = ("said_in_full", "attached")
    id_search = ("id", "episode", "conversation", "conversation__external_id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        reader = Reader(request.user)
        masked = Concat(
            Value("•••••• ("),
            Cast(Length("content"), models.TextField()),
            Value(" characters)"),
            output_field=models.TextField(),
        )
        rows: QuerySet[Message] = super().get_queryset(request)
        if reader.reads_all:
            return rows.annotate(shown=F("content"), shown_metadata=F("metadata"))
        revealed = Q(conversation__in=reader.revealed)
        return rows.annotate(
            shown=Case(When(revealed, then=F("content")), default=masked),
            shown_metadata=Case(When(revealed, then=F("metadata")), default=None),
        )

    def get_search_fields(self, request: HttpRequest) -> Sequence[str]:
        fields: Sequence[str] = super().get_search_fields(request)
        return fields if Reader(request.user).reads_all else ("name",)

    @admin.display(description="content")
    def said(self, message: Any) -> str:
        return values.short(message.shown)

    @admin.display(description="content")
    def said_in_full(self, message: Any) -> str:
        return values.keep_lines(message.shown)

    @admin.display(description="metadata")
    def attached(self, message: Any) -> str:
        return values.pretty_json(message.shown_metadata)


@admin.register(Reveal)
class RevealAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "person", "reason", "conversation", "until", "tenant")
    list_filter = ("created_at", "tenant")
    search_fields = ("person", "reason")
    id_search = ("id", "conversation", "conversation__external_id")


@admin.register(Review)
class ReviewAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at", "rating", "episode", "stability_before", "stability_after", "engine",
        "degraded", "tenant",
    )  # fmt: skip
    list_filter = ("rating", "degraded", "created_at", "tenant")
    search_fields = ("episode__title",)
    id_search = ("id", "episode", "job", "retrieval_id")
    points_at = {"retrieval_id": "retrieval_retrieval"}
