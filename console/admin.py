"""Tells the admin's pages about tables what stands above their columns."""

from __future__ import annotations

from django.contrib import admin

from console import (
    changeset_page,
    conversation_page,
    curating_many,
    episode_page,
    fact_page,
    jobs_page,
    keys,
    note_page,
    operating,
    retrieval_page,
    rolling_back,
)
from console.models import ExportRun, ImportBatch, ImportRun, SavedFilter
from episodic.admin import ConversationAdmin, EpisodeAdmin, WithholdingAdmin
from jobs.admin import JobAdmin, LLMCallAdmin
from memoryproject.admin_base import Listing, ReadOnlyAdmin, Story
from memoryproject.tenancy.admin import APIKeyAdmin, TenantAdmin
from notes.admin import LinkAdmin, NoteAdmin
from retrieval.admin import RetrievalAdmin
from semantic.admin import ChangesetAdmin, FactAdmin

admin.site.index_template = "console/home.html"
JobAdmin.story = Story("console/job.html", jobs_page.tell_job)
JobAdmin.actions = (operating.retry_selected,)
LLMCallAdmin.story = Story("console/call.html", jobs_page.tell_call)
APIKeyAdmin.story = Story("console/key.html", keys.tell_key)
TenantAdmin.story = Story("console/tenant.html", keys.tell_tenant)
ConversationAdmin.story = Story("console/conversation.html", conversation_page.tell)
EpisodeAdmin.story = Story("console/episode.html", episode_page.tell)
FactAdmin.story = Story("console/fact.html", fact_page.tell)
FactAdmin.actions = (curating_many.invalidate_selected, curating_many.restore_selected)
ChangesetAdmin.story = Story("console/changeset.html", changeset_page.tell)
NoteAdmin.story = Story("console/note.html", note_page.tell)
LinkAdmin.story = Story("console/link.html", note_page.tell_link)
WithholdingAdmin.story = Story("console/withholding.html", rolling_back.tell)
RetrievalAdmin.story = Story("console/retrieval.html", retrieval_page.tell, folds=False)


@admin.register(SavedFilter)
class SavedFilterAdmin(ReadOnlyAdmin):
    list_display = ("name", "owner", "shared", "path", "created_at")
    list_filter = ("shared",)
    search_fields = ("name", "owner", "path")


@admin.register(ExportRun)
class ExportRunAdmin(ReadOnlyAdmin):
    list_display = ("started_at", "person", "table", "format", "rows", "finished_at", "tenant")
    list_filter = ("table", "started_at", "tenant")
    search_fields = ("person",)


@admin.register(ImportRun)
class ImportRunAdmin(ReadOnlyAdmin):
    list_display = (
        "started_at", "person", "file_name", "state", "reason", "total", "done", "opened", "tenant",
    )  # fmt: skip
    list_filter = ("state", "started_at", "tenant")
    search_fields = ("person", "file_name", "reason")
    points_at = {"last_changeset": "semantic_changeset"}
    listings = (Listing("Batches", ImportBatch, "run"),)


@admin.register(ImportBatch)
class ImportBatchAdmin(ReadOnlyAdmin):
    """How far an import got; the rows themselves lie in the run's preview, then in facts."""

    hidden = ("rows",)
    list_display = ("position", "run", "changesets", "done_at", "tenant")
    list_filter = ("tenant",)
    search_help_text = "A whole id"
    id_search = ("id", "run")
