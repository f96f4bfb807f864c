"""Receipts: what was asked, by whom, and what was served."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from episodic.admin import ConversationAdmin
from episodic.models import Episode
from indexing.admin import MemoryAdmin
from memoryproject.adminkit import values
from memoryproject.adminkit.base import ROWS_AT_MOST, Listing, ReadOnlyAdmin, Table
from memoryproject.adminkit.filters import recent_filter, words_filter
from retrieval.models import Context, ContextSection, Retrieval, RetrievalHit
from semantic.models import Fact


def hits_of_retrieval(request: HttpRequest, retrieval: Retrieval) -> Table:
    """Return what an answer served, facts and episodes each best first, in three queries."""
    hits = list(RetrievalHit.across_tenants.filter(retrieval=retrieval)[:ROWS_AT_MOST])
    hits.sort(key=lambda hit: (hit.memory_kind, hit.rank, hit.id))
    memory_ids = [hit.memory_id for hit in hits]
    words: dict[uuid.UUID, Any] = {
        **Fact.across_tenants.in_bulk(memory_ids),
        **Episode.across_tenants.in_bulk(memory_ids),
    }
    return Table(
        "Served",
        ["kind", "rank", "memory", "score", "rank by words", "rank by vector"],
        [
            [
                hit.memory_kind,
                values.link(hit, hit.rank),
                values.link_to_memory(hit.memory_kind, hit.memory_id, words.get(hit.memory_id)),
                values.number(hit.score),
                values.number(hit.lexical_rank),
                values.number(hit.vector_rank),
            ]
            for hit in hits
        ],
    )


ConversationAdmin.listings += (Listing("Retrievals", Retrieval, "conversation"),)
MemoryAdmin.listings += (Listing("In contexts", ContextSection, "memory"),)


def missing_parts() -> dict[str, Q]:
    """Return what tells answers apart that had all there is, and those that had no vectors."""
    return {"complete": Q(degraded=""), "degraded": ~Q(degraded="")}


@admin.register(Retrieval)
class RetrievalAdmin(ReadOnlyAdmin):
    list_display = (
        "query", "kind", "asked_by", "tokens", "degraded", "reviewable", "created_at",
        "conversation", "tenant",
    )  # fmt: skip
    list_filter = (
        "kind", "reviewable", words_filter("degraded", missing_parts),
        recent_filter("made", "made"), "tenant",
    )  # fmt: skip
    search_fields = ("query",)
    id_search = ("id", "conversation", "conversation__external_id", "review_job")
    tables = (hits_of_retrieval,)


@admin.register(RetrievalHit)
class RetrievalHitAdmin(ReadOnlyAdmin):
    search_help_text = "A whole id"
    list_display = (
        "rank", "memory_kind", "memory", "score", "lexical_rank", "vector_rank", "retrieval",
        "tenant",
    )  # fmt: skip
    list_filter = ("memory_kind", "tenant")
    id_search = ("id", "memory_id", "retrieval")
    more_lines = ("memory",)

    @admin.display(description="memory", ordering="memory_id")
    def memory(self, hit: RetrievalHit) -> str:
        return values.link_to_memory(hit.memory_kind, hit.memory_id)


@admin.register(Context)
class ContextAdmin(ReadOnlyAdmin):
    """What agents put together; what it says is not shown, for it quotes messages."""

    search_help_text = "A whole id"
    list_display = (
        "created_at", "used_tokens", "max_tokens", "reserved_tokens", "counter", "made_by",
        "expires_at", "tenant",
    )  # fmt: skip
    list_filter = ("counter", recent_filter("made", "made"), "tenant")
    listings = (Listing("Sections", ContextSection, "context"),)


@admin.register(ContextSection)
class ContextSectionAdmin(ReadOnlyAdmin):
    hidden = ("content",)
    search_help_text = "A whole id"
    list_display = (
        "position", "kind", "memory", "priority", "tokens", "truncated", "context", "tenant",
    )  # fmt: skip
    list_filter = ("kind", "truncated", "tenant")
    id_search = ("id", "context", "memory")
