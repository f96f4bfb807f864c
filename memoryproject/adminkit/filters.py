"""Admin filters with their own choices, for what no single column tells."""

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
    """Return a filter with the given choices; `words` is called again for each page.

    `shown` has the text for a choice.
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
    """Return a filter for recently created rows.

    Ids begin with the time of creation, and every list is in their order: so a span of time is a
    range of the primary key, fast in any table.
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
    """Return a filter that takes a time, for rows whose span contains it.

    A span includes its `since` and excludes its `until`; NULL means no end. Rows that match `but`
    are left out. An invalid time leaves all rows, with a message.
    """

    class MomentFilter(admin.SimpleListFilter):
        template = "admin/moment_filter.html"
        parameter_name = name
        example = MOMENT_EXAMPLE
        fault = ""
        shown = ""
        """The text for the time that the list shows; empty: any time."""

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            return []

        def has_output(self) -> bool:
            return True

        def choices(self, changelist: Any) -> Iterator[Any]:
            """Return the only choice: the same list at any time."""
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
    """Return the condition that a row's span contains a time; NULL as its end means no end."""
    ends_later = Q(**{f"{until}__isnull": True}) | Q(**{f"{until}__gt": moment})
    return Q(**{f"{since}__lte": moment}) & ends_later


def read_moment(text: str) -> datetime:
    """Return a time as typed: ISO 8601, UTC by default, or a day.

    A whole number is milliseconds since 1970, as in the API.

    Raises:
        Problem: it is not a time.
    """
    written = text.strip()
    try:
        if written.isdecimal() and len(written) > len("20260302"):
            return EPOCH + timedelta(milliseconds=int(written))
        moment = datetime.fromisoformat(written)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Problem(f"This is no time. Write it like {MOMENT_EXAMPLE}, in UTC.") from None
