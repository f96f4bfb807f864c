"""Filters by words of our own, where a column alone does not say it."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from memoryproject.database.ids import first_id_at
from memoryproject.edge.errors import Problem

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOMENT_EXAMPLE = "2026-03-02T09:00"


def words_filter(
    name: str, words: Callable[[], dict[str, Q]], *, shown: Mapping[str, str] = {}
) -> type[admin.SimpleListFilter]:
    """Return a filter that offers the words; `words` is asked anew for each page.

    `shown` has what is shown instead of a word.
    """

    class WordsFilter(admin.SimpleListFilter):
        parameter_name = title = name

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            return [(word, shown.get(word, word)) for word in words()]

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            chosen = words().get(self.value() or "")
            return queryset if chosen is None else queryset.filter(chosen)

    return WordsFilter


RECENT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


def recent_filter(name: str) -> type[admin.SimpleListFilter]:
    """Return a filter for rows made lately.

    Ids begin with the time at which they were made, and every list is in their order: so
    a span of time is a range of the primary key, however large the table.
    """
    shown = {word: f"in the last {days} days" for word, days in RECENT_DAYS.items()}
    shown["day"] = "in the last 24 hours"

    def list_spans() -> dict[str, Q]:
        now = timezone.now()
        return {
            word: Q(pk__gte=first_id_at(now - timedelta(days=days)))
            for word, days in RECENT_DAYS.items()
        }

    return words_filter(name, list_spans, shown=shown)


def moment_filter(
    name: str, title: str, *, since: str, until: str, but: Q | None = None
) -> type[admin.SimpleListFilter]:
    """Return a filter that takes a time and leaves the rows whose span holds it.

    A span includes its `since` and excludes its `until`; NULL there is no end. What `but`
    describes is left out. What is no time leaves all rows, and is said.
    """

    class MomentFilter(admin.SimpleListFilter):
        template = "admin/moment_filter.html"
        parameter_name = name
        example = MOMENT_EXAMPLE
        fault = ""
        shown = ""
        """What the list says of the time that it shows; empty: any time."""

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            return []

        def has_output(self) -> bool:
            return True

        def choices(self, changelist: Any) -> Iterator[Any]:
            """Return the one choice there is: the same list at any time."""
            query = changelist.get_query_string({name: None, "p": None})
            carried = parse_qsl(query.removeprefix("?"), keep_blank_values=True)
            yield {"selected": not self.value(), "query_string": query, "carried": carried}

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            if not self.value():
                return queryset
            try:
                moment = read_moment(self.value() or "")
            except Problem as problem:
                self.fault = problem.message
                return queryset
            self.shown = f"{title} {moment:%Y-%m-%d %H:%M:%S} UTC"
            rows = queryset.filter(held_at(moment, since=since, until=until))
            return rows if but is None else rows.exclude(but)

    MomentFilter.title = title
    return MomentFilter


def held_at(moment: datetime, *, since: str, until: str) -> Q:
    """Return what tells rows whose span holds a time; NULL as its end is no end."""
    ends_later = Q(**{f"{until}__isnull": True}) | Q(**{f"{until}__gt": moment})
    return Q(**{f"{since}__lte": moment}) & ends_later


def read_moment(text: str) -> datetime:
    """Return the time that somebody wrote: ISO 8601, UTC if nothing else is said, or a day.

    A whole number is milliseconds since 1970, as in the API.

    Raises:
        Problem: it is no time.
    """
    written = text.strip()
    try:
        if written.isdecimal() and len(written) > len("20260302"):
            return EPOCH + timedelta(milliseconds=int(written))
        moment = datetime.fromisoformat(written)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Problem(f"This is no time. Write it like {MOMENT_EXAMPLE}, in UTC.") from None
