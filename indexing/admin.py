"""Admin of the search index: memories, units, vectors and their statistics."""

from typing import Any

from django.contrib import admin

from indexing.models import Memory, SearchUnit, SearchVector, ShelfSize, VectorIndex, WordCount
from memoryproject.adminkit.base import Listing, Listings, ReadOnlyAdmin
from memoryproject.adminkit.filters import recent_filter
from memoryproject.adminkit.values import column, link_to_memory


@admin.register(Memory)
class MemoryAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "page", "created_at", "tenant")
    list_filter = ("kind", recent_filter("made", "made"), "tenant")
    more_lines = ("page",)
    listings: Listings = (
        Listing("Search units", SearchUnit, "memory"),
        Listing("Search vectors", SearchVector, "memory"),
    )
    page = column("its page", lambda memory: link_to_memory(memory.kind, memory.id))


@admin.register(SearchUnit)
class SearchUnitAdmin(ReadOnlyAdmin):
    hidden = ("words",)
    list_display = (
        "lexical_text kind shelf language dl memory conversation invalid_at tenant"
    ).split()
    list_filter = ("tenant",)
    search_help_text = "A whole id, also of the memory"
    id_search = ("id", "memory")
    listings = (Listing("Search vectors", SearchVector, "unit"),)


@admin.register(SearchVector)
class SearchVectorAdmin(ReadOnlyAdmin):
    hidden = ("embedding",)
    list_display = "id model dim kind shelf unit memory conversation invalid_at tenant".split()
    list_filter = ("tenant",)
    search_help_text = "A whole id, also of unit or memory"
    id_search = ("id", "unit", "memory")


class ByConversationAdmin(ReadOnlyAdmin):
    """What is known of a conversation's kinds of memory."""

    list_filter: tuple[Any, ...] = ("shelf", "tenant")
    search_help_text = "A whole id, also of the conversation"
    id_search = ("id", "conversation")


@admin.register(ShelfSize)
class ShelfSizeAdmin(ByConversationAdmin):
    list_display = ("conversation", "shelf", "units", "lexemes", "counted", "tenant")


@admin.register(WordCount)
class WordCountAdmin(ByConversationAdmin):
    list_display = ("slot", "units", "conversation", "shelf", "tenant")


@admin.register(VectorIndex)
class VectorIndexAdmin(ByConversationAdmin):
    list_display = "name conversation shelf model dim recall built_at tenant".split()
    list_filter = ("shelf", "model", "tenant")
