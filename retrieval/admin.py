"""Receipts: what was asked, by whom, and what was served."""

from django.contrib import admin
from django.db.models import Q

from episodic.admin import ConversationAdmin
from indexing.admin import MemoryAdmin
from memoryproject.adminkit import values
from memoryproject.adminkit.base import Listing, ReadOnlyAdmin
from memoryproject.adminkit.filters import recent_filter, words_filter
from retrieval.models import ContextSection, MemoryTest, Retrieval, RetrievalHit

ConversationAdmin.listings += (Listing("Retrievals", Retrieval, "conversation"),)
MemoryAdmin.listings += (Listing("In contexts", ContextSection, "memory"),)


def missing_parts() -> dict[str, Q]:
    """Return the filter choices of a list of answers: complete, or made without vectors."""
    return {"complete": Q(degraded=""), "degraded": ~Q(degraded="")}


def test_states() -> dict[str, Q]:
    """Return the conditions for memory tests that pass, that fail, and that have not run."""
    return {
        "fails": ~Q(failures=[]),
        "passes": Q(failures=[], ran_at__isnull=False),
        "not run": Q(ran_at=None),
    }


@admin.register(Retrieval)
class RetrievalAdmin(ReadOnlyAdmin):
    list_display = (
        "query kind asked_by tokens degraded reviewable created_at conversation tenant"
    ).split()
    list_filter = (
        "kind", "reviewable", words_filter("degraded", missing_parts),
        recent_filter("made"), "tenant",
    )  # fmt: skip
    search_fields = ("query",)
    id_search = ("id", "conversation", "conversation__external_id", "review_job")


@admin.register(MemoryTest)
class MemoryTestAdmin(ReadOnlyAdmin):
    list_display = "query state failures ran_at broken_by made_by conversation tenant".split()
    list_filter = (words_filter("state", test_states), "tenant")
    search_fields = ("query", "made_by")
    id_search = ("id", "conversation", "conversation__external_id", "broken_by", "case_id")
    points_at = {"broken_by": "semantic_changeset", "case_id": "retrieval_retrieval"}

    @values.coloured_word("state")
    def state(self, test: MemoryTest) -> str:
        return "not run" if test.passes is None else "passes" if test.passes else "fails"


@admin.register(RetrievalHit)
class RetrievalHitAdmin(ReadOnlyAdmin):
    list_display = "rank memory_kind memory score lexical_rank vector_rank retrieval tenant".split()
    list_filter = ("memory_kind", "tenant")
    id_search = ("id", "memory_id", "retrieval")
    more_lines = ("memory",)
    memory = values.column(
        "memory", lambda hit: values.link_to_memory(hit.memory_kind, hit.memory_id), "memory_id"
    )
