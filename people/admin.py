"""Admin of people, their names and ids, and merges."""

from django.contrib import admin

from memoryproject.adminkit.base import Listing, ReadOnlyAdmin
from people.models import Alias, Merge, Person


@admin.register(Person)
class PersonAdmin(ReadOnlyAdmin):
    list_display = ("name", "created_at", "tenant")
    list_filter = ("tenant",)
    search_fields = ("name",)
    listings = (
        Listing("Names and ids", Alias, "person"),
        Listing("Merged into others", Merge, "person"),
        Listing("Others merged into them", Merge, "into"),
    )
