"""Background work, and what models were asked."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import F, JSONField, QuerySet, Value
from django.http import HttpRequest

from episodic.revealing import Reader
from jobs.models import Job, Kind, LLMCall
from memoryproject.admin_base import Listing, ReadOnlyAdmin, read_id
from memoryproject.admin_values import link_to_page, pretty_json

# A queued wake-up says nothing that its job does not say better.
for model in apps.get_app_config("django_q").get_models():
    if admin.site.is_registered(model):
        admin.site.unregister(model)


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = (
        "id", "kind", "state", "attempts", "error_class", "run_after", "lease_until",
        "finished_at", "tenant",
    )  # fmt: skip
    list_filter = ("state", "kind", "created_at", "tenant")
    search_fields = ("error_class",)
    more_lines = ("conversation",)
    id_search = ("id", "scope")
    listings = (Listing("Model calls", LLMCall, "job"),)

    @admin.display(description="conversation")
    def conversation(self, job: Job) -> str:
        if job.kind == Kind.REVIEW:
            return link_to_page("episodic_conversation", read_id(job.input.get("conversation", "")))
        return link_to_page("episodic_conversation", job.scope)


@admin.register(LLMCall)
class LLMCallAdmin(ReadOnlyAdmin):
    list_display = (
        "purpose", "model", "ok", "input_tokens", "output_tokens", "cost", "latency_ms", "job",
        "error_class", "created_at", "tenant",
    )  # fmt: skip
    list_filter = ("ok", "purpose", "created_at", "tenant")
    search_fields = ("model", "error_class")
    id_search = ("id", "job")
    points_at = {"job": "jobs_job"}
    hidden = ("response",)
    more_lines = ("answer",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[LLMCall]:
        rows: QuerySet[LLMCall] = super().get_queryset(request)
        reads = Reader(request.user).reads_all
        return rows.annotate(shown=F("response") if reads else Value(None, JSONField()))

    @admin.display(description="answer")
    def answer(self, call: Any) -> str:
        """An answer quotes what people said: it shows to those who may read that."""
        return pretty_json(call.shown)
