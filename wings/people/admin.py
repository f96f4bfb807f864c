"""Admin of people, their names and ids, and merges."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from memoryproject.adminkit.base import Listing, ReadOnlyAdmin, read_id
from memoryproject.tenancy import walls
from wings.people import queries
from wings.people.models import Alias, Merge, Person
from wings.people.same import find_pairs

KNOWN_AT_MOST = 100


@admin.register(Person)
class PersonAdmin(ReadOnlyAdmin):
    list_display = ("name", "created_at", "tenant")
    list_filter = ("tenant",)
    search_fields = ("name",)
    list_before_template = "console/people/bar.html"
    empty_title = "Nobody was added as a person"
    """What an empty list says, below who is known without that."""
    listings = (
        Listing("Names and ids", Alias, "person"),
        Listing("Merged into others", Merge, "person"),
        Listing("Others merged into them", Merge, "into"),
    )

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Show people, and also the names and ids that belong to no person yet."""
        words = request.GET.get("q", "").replace("\x00", "").strip()
        tenant_id = read_id(walls.get_seen())
        known = queries.find_known(tenant_id, words, at_most=KNOWN_AT_MOST)
        shown = [one for one in known if one.person_id is None]
        beside = {"known": shown, "pairs": find_pairs(shown)}
        return super().changelist_view(request, {**beside, **(extra_context or {})})

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Person], search_term: str
    ) -> Any:
        """Return the people with the words in a name or an id."""
        found, is_distinct = super().get_search_results(request, queryset, search_term)
        return found | queryset.filter(queries.is_named(search_term)), is_distinct
