"""What was said, what happened, and how it was rated."""

from __future__ import annotations

from django.contrib import admin

from episodic.models import Conversation, Episode, Message, Review
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


def messages_of_episode(episode: Episode) -> Table:
    """Return what was said in an episode, in order."""
    said = Message.across_tenants.filter(episode=episode).order_by("seq", "id")[:ROWS_AT_MOST]
    return Table(
        "Messages",
        ["seq", "speaker", "content", "said at"],
        [
            [
                values.link(message, message.seq),
                message.name or message.role,
                values.keep_lines(message.content),
                values.moment(message.occurred_at),
            ]
            for message in said
        ],
    )


def reviews_of_episode(episode: Episode) -> Table:
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
    list_display = (
        "content", "seq", "role", "name", "occurred_at", "conversation", "episode", "tenant",
    )  # fmt: skip
    list_filter = ("role", "occurred_at", "received_at", "tenant")
    search_fields = ("content", "name")
    id_search = ("id", "episode", "conversation", "conversation__external_id")


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
