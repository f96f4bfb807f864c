"""Search box of large admin lists: uses the word index, and does not scan every row."""

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
"""The result of a search in Django's admin: the rows, and whether some may be duplicates."""


@dataclass(frozen=True, slots=True)
class WordSearch:
    """The query, its scope, and the matches."""

    sought: Sought
    scope: Scope
    matches: Sequence[Match]


class WordSearchAdmin(ReadOnlyAdmin):
    """A list whose rows are found by the words of their search units.

    If there are many matches, the newest 500 are shown.
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
        """Return the rows of the list that matched."""
        return rows.filter(pk__in=[match.memory_id for match in search.matches])


def read_scope(request: HttpRequest) -> Scope:
    """Return the current tenant and the filters in the list's address as a scope."""

    def chosen(column: str) -> Any:
        value = request.GET.get(f"{column}__exact") or request.GET.get(f"{column}__id__exact")
        return read_id(value or "")

    looked_at = request.tenants.current  # type: ignore[attr-defined]
    tenant_id = looked_at.id if looked_at else chosen("tenant")
    return Scope(tenant_id=tenant_id, conversation_id=chosen("conversation"))
