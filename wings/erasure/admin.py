"""Admin of erasures."""

from collections import Counter
from typing import Any

from django.contrib import admin

from memoryproject.adminkit.base import ReadOnlyAdmin
from memoryproject.adminkit.filters import recent_filter
from memoryproject.adminkit.values import coloured_word, column
from wings.erasure.models import Erasure, RetentionPolicy, Scope


@admin.register(Erasure)
class ErasureAdmin(ReadOnlyAdmin):
    """The record outlives its tenant, so it shows the tenant's id, without a link."""

    list_display = ("created_at", "scope", "standing", "actor", "reason", "finished_at", "whose")
    list_filter = ("scope", "state", recent_filter("made"))
    search_fields = ("actor", "reason")
    id_search = ("id", "target", "job_id", "tenant_id")
    hidden = ("subject", "pages", "proof", "tenant")  # the certificate shows the proof
    more_lines = ("whose",)
    points_at = {"job_id": "jobs_job"}
    whose = column("tenant", lambda erasure: str(erasure.tenant_id))
    standing = coloured_word("state")(lambda admin, erasure: str(erasure.state))

    def get_list_select_related(self, request: Any) -> tuple[str, ...]:
        return ()


@admin.register(RetentionPolicy)
class RetentionPolicyAdmin(ReadOnlyAdmin):
    """Shows policies; their erasures are in the list of erasures, with their id."""

    list_display = ("words", "looked_at", "erased", "actor", "created_at", "tenant")
    list_filter = ("kind", "tenant")
    search_fields = ("actor",)
    more_lines = ("erased",)
    words = column("erases", str)

    @admin.display(description="erased so far")
    def erased(self, policy: RetentionPolicy) -> str:
        runs = Erasure.objects.of(policy.tenant).filter(scope=Scope.RETENTION, target=policy.id)
        counts = sum(map(Counter, runs.values_list("counts", flat=True)), Counter[str]())
        return ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing"
