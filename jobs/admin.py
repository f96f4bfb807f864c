"""Background work, and what models were asked."""

from __future__ import annotations

from django.apps import apps
from django.contrib import admin

from jobs.models import Job, LLMCall
from memoryproject.admin_base import Listing, ReadOnlyAdmin
from memoryproject.admin_values import link_by_id

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
    search_help_text = "An error's class, or the id of a job or of what it works on."
    id_search = ("id", "scope")
    listings = (Listing("Model calls", LLMCall, "job"),)


@admin.register(LLMCall)
class LLMCallAdmin(ReadOnlyAdmin):
    list_display = (
        "purpose", "model", "ok", "input_tokens", "output_tokens", "latency_ms", "job_link",
        "error_class", "created_at", "tenant",
    )  # fmt: skip
    list_filter = ("ok", "purpose", "created_at", "tenant")
    search_fields = ("model", "error_class")
    search_help_text = "A model, an error's class, or the id of a call or of a job."
    id_search = ("id", "job")

    @admin.display(description="job", ordering="job")
    def job_link(self, call: LLMCall) -> str:
        return link_by_id(Job, call.job) if call.job else "-"
