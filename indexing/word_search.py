"""The search box of large lists: by the index of words, not by reading every row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from indexing import tenant_search
from indexing.models import UnitKind
from indexing.tenant_search import Match, Scope, Sought
from memoryproject.adminkit.base import ReadOnlyAdmin, read_id

Results = tuple[QuerySet[Any], bool]
"""What Django's admin asks of a search: the rows, and whether some may come twice."""


@dataclass(frozen=True, slots=True)
class WordSearch:
    """What was searched for, where, and what was found."""

    sought: Sought
    scope: Scope
    matches: Sequence[Match]


class WordSearchAdmin(ReadOnlyAdmin):
    """A list whose rows are found by the words of their search units.

    Of very many matches the newest 500 are shown.
    """

    found_as: UnitKind
    search_help_text = 'Words, "a phrase", or a whole id'

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> Results:
        if not search_term.strip() or read_id(search_term) is not None:
            rows: Results = super().get_search_results(request, queryset, search_term)
            return rows
        sought, scope = tenant_search.read_query(search_term), read_scope(request)
        matches = tenant_search.find(sought, kind=self.found_as, scope=scope).found
        search = WordSearch(sought, scope, matches)
        return self.keep_matches(request, queryset, search), False

    def keep_matches(
        self, request: HttpRequest, rows: QuerySet[Any], search: WordSearch
    ) -> QuerySet[Any]:
        """Return those of the list's rows that were found."""
        return rows.filter(pk__in=[match.memory_id for match in search.matches])


def read_scope(request: HttpRequest) -> Scope:
    """Return the tenant that is looked at, and to what the list's address narrows it."""

    def chosen(column: str) -> Any:
        value = request.GET.get(f"{column}__exact") or request.GET.get(f"{column}__id__exact")
        return read_id(value or "")

    looked_at = request.tenants.current  # type: ignore[attr-defined]
    tenant_id = looked_at.id if looked_at else chosen("tenant")
    return Scope(tenant_id=tenant_id, conversation_id=chosen("conversation"))
