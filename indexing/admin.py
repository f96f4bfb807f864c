"""Admin of the search index: memories, units, vectors and their statistics."""

from django.contrib import admin

from indexing.models import Memory, SearchUnit, SearchVector
from memoryproject.adminkit.base import Listing, Listings, ReadOnlyAdmin
from memoryproject.adminkit.filters import recent_filter
from memoryproject.adminkit.values import column, link_to_memory


@admin.register(Memory)
class MemoryAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "page", "created_at", "tenant")
    list_filter = ("kind", recent_filter("made"), "tenant")
    more_lines = ("page",)
    listings: Listings = (
        Listing("Search units", SearchUnit, "memory"),
        Listing("Search vectors", SearchVector, "memory"),
    )
    page = column("its page", lambda memory: link_to_memory(memory.kind, memory.id))
