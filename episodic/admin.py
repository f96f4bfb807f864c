"""Admin of conversations, messages, episodes, reviews, quarantines and the unmask log."""

from typing import Any

from django.contrib import admin
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Length
from django.http import HttpRequest

from episodic import queries
from episodic.models import Conversation, Episode, Message, Withholding
from episodic.naming import render_name, with_names
from episodic.revealing import Reader, mask_of_length
from indexing.models import UnitKind
from indexing.word_search import WordSearch, WordSearchAdmin
from jobs.models import Job
from memoryproject.adminkit import values
from memoryproject.adminkit.base import Listing, Listings, ReadOnlyAdmin
from memoryproject.adminkit.filters import recent_filter


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    list_display = (
        "called last_at messages pending_count external_id language created_at tenant"
    ).split()
    list_filter = ("language", recent_filter("made"), "tenant")
    id_search = ("id", "external_id")
    search_help_text = "A whole id; the search page finds words"
    listings: Listings = (
        Listing("Messages", Message, "conversation"),
        Listing("Episodes", Episode, "conversation"),
        Listing("Jobs", Job, "scope"),
    )
    called = values.column("conversation", lambda row: render_name(row, may_read=row.is_readable))
    last_at = values.column("last message", lambda row: values.moment(row.last_at), "last_at")
    messages = values.column(
        "messages", lambda row: row.next_seq - 1 - row.erased_count, "next_seq"
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        reader = Reader(request.user)
        rows = with_names(super().get_queryset(request))
        if reader.reads_all:
            return rows.annotate(is_readable=Value(True))
        return rows.annotate(is_readable=Q(id__in=reader.revealed))


@admin.register(Episode)
class EpisodeAdmin(WordSearchAdmin):
    found_as = UnitKind.EPISODE
    list_display = (
        "title first_seq last_seq surprise stability start_at engine consolidated_at "
        "conversation tenant"
    ).split()
    list_filter = ("degraded", "start_at", recent_filter("made"), "tenant")
    search_fields = ("title", "summary")
    id_search = ("id", "conversation", "conversation__external_id")

    def keep_matches(
        self, request: HttpRequest, rows: QuerySet[Any], search: WordSearch
    ) -> QuerySet[Any]:
        """Return the rows found; masked ones are left out, since a match would reveal words."""
        found = super().keep_matches(request, rows, search)
        return Reader(request.user).keep_readable(found)


@admin.register(Message)
class MessageAdmin(WordSearchAdmin):
    """Messages. Without the permission to read them, a search cannot find them by words."""

    found_as = UnitKind.MESSAGE
    hidden = ("content", "metadata")
    list_display = "said seq role name occurred_at conversation episode tenant".split()
    list_filter = ("role", "occurred_at", recent_filter("received"), "tenant")
    search_fields = ("content", "name")
    more_lines = ("said_in_full", "attached")
    id_search = ("id", "episode", "conversation", "conversation__external_id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        reader = Reader(request.user)
        rows: QuerySet[Message] = super().get_queryset(request)
        if reader.reads_all:
            return rows.annotate(shown=F("content"), shown_metadata=F("metadata"))
        revealed = Q(conversation__in=reader.revealed)
        return rows.annotate(
            shown=Case(When(revealed, then=F("content"))),
            length=Length("content"),
            shown_metadata=Case(When(revealed, then=F("metadata"))),
        )

    def keep_matches(
        self, request: HttpRequest, rows: QuerySet[Any], search: WordSearch
    ) -> QuerySet[Any]:
        """Return the rows found; masked ones are left out, since a match would reveal words."""
        reader = Reader(request.user)
        window_ids = queries.waiting_with_words(
            [*search.sought.words.split(), *search.sought.phrases],
            tenant_id=search.scope.tenant_id,
            conversation_id=search.scope.conversation_id,
        )
        places = [(match.conversation_id, match.seq or 0) for match in search.matches]
        ids = queries.messages_in_places(places).values_list("id", flat=True)
        # As values: for two subqueries joined by OR the planner reads every message.
        found = rows.filter(id__in=[*ids, *window_ids])
        return found if reader.reads_all else found.filter(conversation__in=reader.revealed)

    said = values.column("content", lambda message: values.short(show_content(message)))
    said_in_full = values.column("content", lambda row: values.keep_lines(show_content(row)))
    attached = values.column("metadata", lambda message: values.pretty_json(message.shown_metadata))


def show_content(message: Any) -> str:
    return mask_of_length(message.length) if message.shown is None else str(message.shown)


@admin.register(Withholding)
class WithholdingAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at actor reason since posted_by conversation speaker role lifted_at tenant"
    ).split()
    list_filter = ("role", "created_at", "tenant")
    search_fields = ("actor", "reason", "speaker")
    id_search = ("id", "posted_by", "conversation", "conversation__external_id")
