"""Admin lists of facts, evidence, suggestions, changesets and changes."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.html import format_html

from episodic.admin import ConversationAdmin
from indexing.models import UnitKind
from indexing.word_search import WordSearchAdmin
from memoryproject.adminkit import values
from memoryproject.adminkit.base import Listing, ReadOnlyAdmin
from memoryproject.adminkit.filters import moment_filter, recent_filter, words_filter
from semantic.models import Change, Changeset, Fact

NEVER = [because for because in Fact.Because if because != Fact.Because.SUPERSEDED]
NEVER_TRUE = Q(invalidated_because__in=NEVER)


ConversationAdmin.listings += (
    Listing("Facts", Fact, "conversation"),
    Listing("Changesets", Changeset, "conversation"),
)


def fact_states() -> dict[str, Q]:
    """Return the conditions that tell facts of each state apart."""
    # The conditions implied by the reason are written out, since the index needs them.
    closed = {
        because.value: Q(invalidated_because=because, invalid_at__isnull=False)
        for because in Fact.Because
    }
    return {"active": Q(invalid_at=None), **closed}


@admin.register(Fact)
class FactAdmin(WordSearchAdmin):
    found_as = UnitKind.FACT
    list_display = (
        "fact category state true evidence served conflicts conversation tenant"
    ).split()
    column_permissions = {
        "evidence": "semantic.view_evidence",
        "served": "retrieval.view_retrieval",
        "conflicts": "semantic.view_suggestion",
    }
    evidence = values.column("evidence", lambda fact: fact.evidence_count)
    conflicts = values.column("conflicts", lambda fact: fact.conflict_count or values.NOTHING)
    list_filter = (
        words_filter("state", fact_states),
        moment_filter("true_at", "true at", since="valid_at", until="valid_until", but=NEVER_TRUE),
        moment_filter("believed_at", "believed at", since="created_at", until="invalid_at"),
        "category", recent_filter("made"), "tenant",
    )  # fmt: skip
    list_before_template = "admin/moments_shown.html"
    search_fields = ("search_text",)
    id_search = ("id", "conversation", "conversation__external_id")

    def get_ordering(self, request: HttpRequest) -> Sequence[str]:
        """Return the order of the index that finds these facts: by closing time for closed ones."""
        if any(name.startswith("invalid_at__") for name in request.GET):
            return ("-invalid_at", "-id")
        return tuple(super().get_ordering(request))

    def has_curate_permission(self, request: HttpRequest) -> bool:
        """Return whether the person may close, restore and correct."""
        return request.user.has_perm("semantic.curate_fact")

    @values.coloured_word("state")
    def state(self, fact: Fact) -> str:
        return fact.invalidated_because or "active"

    @admin.display(description="served")
    def served(self, fact: Any) -> str:
        """Return how often the fact was served, and on which day last."""
        times, last_at = fact.use.times, fact.use.last_at
        if not times:
            return values.NOTHING
        return format_html(
            '<span class="whitespace-nowrap">{}×, last {}</span>', times, f"{last_at:%Y-%m-%d}"
        )

    @admin.display(description="true in the world", ordering="valid_at")
    def true(self, fact: Fact) -> str:
        """Return the days from which and until which the fact was true; `never` if it was wrong."""
        if fact.invalidated_because in NEVER:
            return "never"
        since, until = (
            f"{day:%Y-%m-%d}" if day else "" for day in (fact.valid_at, fact.valid_until)
        )
        return format_html('<span class="whitespace-nowrap">{} – {}</span>', since, until)


@admin.register(Changeset)
class ChangesetAdmin(ReadOnlyAdmin):
    list_display = (
        "started_at kind actor changes reason engine model degraded conversation tenant"
    ).split()
    list_filter = ("kind", "degraded", recent_filter("made"), "tenant")
    search_fields = ("actor", "reason", "model")
    id_search = ("id", "job_id", "conversation", "conversation__external_id")
    points_at = {"job_id": "jobs_job"}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Changeset]:
        changes = Change.across_tenants.filter(changeset=OuterRef("pk")).order_by()
        counts = changes.values("changeset").annotate(count=Count("id")).values("count")
        changesets: QuerySet[Changeset] = super().get_queryset(request)
        return changesets.annotate(change_count=Subquery(counts))

    changes = values.column("changes", lambda changeset: changeset.change_count or 0)
