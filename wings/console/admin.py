"""Registers the console's tables, and the stories and actions of all tables' pages."""

from django.contrib import admin

from episodic.admin import ConversationAdmin, EpisodeAdmin, MessageAdmin, WithholdingAdmin
from memoryproject.adminkit.base import ReadOnlyAdmin, Story
from memoryproject.adminkit.lists import register_lists
from memoryproject.adminkit.values import column
from memoryproject.tenancy.admin import PersonAdmin as UserAdmin
from memoryproject.tenancy.admin import TenantAdmin
from retrieval.admin import MemoryTestAdmin, RetrievalAdmin
from semantic.admin import ChangesetAdmin, FactAdmin
from wings.console import page_reads
from wings.console.cases import page as case_page
from wings.console.conversations import episode_page, rollback
from wings.console.conversations import page as conversation_page
from wings.console.erasing import page as erasing
from wings.console.facts import actions, changes
from wings.console.facts import page as fact_page
from wings.console.graph import links
from wings.console.jobs import page as job_page
from wings.console.jobs.admin import JobAdmin, LLMCallAdmin
from wings.console.keys import page as key_page
from wings.console.keys.admin import APIKeyAdmin
from wings.console.models import PageRead
from wings.console.notes import page as note_page
from wings.console.people import page as person_page
from wings.console.signin.adapters import remove_second_factors
from wings.erasure.admin import ErasureAdmin
from wings.events.admin import EventAdmin
from wings.notes.admin import LinkAdmin, NoteAdmin
from wings.people.admin import PersonAdmin

# They hold secrets, and there is nothing to do there: people have a page of their own.
SIGN_IN = {"account", "socialaccount", "mfa", "usersessions"}
admin.site.unregister([row for row in admin.site._registry if row._meta.app_label in SIGN_IN])
UserAdmin.actions = (remove_second_factors,)  # type: ignore[misc]
admin.site.index_template = "console/home/home.html"
JobAdmin.story = Story("console/jobs/job.html", job_page.get_job_story)
JobAdmin.actions = (job_page.retry_selected,)
EventAdmin.actions = (job_page.redeliver_selected,)
LLMCallAdmin.story = Story("console/jobs/call.html", job_page.get_call_story)
APIKeyAdmin.story = Story("console/keys/key.html", key_page.get_key_story)
TenantAdmin.story = Story("console/keys/tenant.html", key_page.get_tenant_story)
ConversationAdmin.story = Story(
    "console/conversations/conversation.html", conversation_page.get_story
)
EpisodeAdmin.story = Story("console/conversations/episode.html", episode_page.get_story)
ErasureAdmin.story = Story("console/erasure.html", erasing.get_story)
FactAdmin.story = Story("console/facts/fact.html", fact_page.get_story)
FactAdmin.actions = (actions.invalidate_selected, actions.restore_selected)
ChangesetAdmin.story = Story("console/facts/changeset.html", changes.get_story)
NoteAdmin.story = Story("console/notes/note.html", note_page.get_story)
LinkAdmin.story = Story("console/graph/link.html", links.get_link_story)
PersonAdmin.story = Story("console/people/person.html", person_page.get_story)
PersonAdmin.list_before_template = "console/people/bar.html"
WithholdingAdmin.story = Story("console/conversations/quarantine.html", rollback.get_story)
RetrievalAdmin.story = Story("console/cases/receipt.html", case_page.get_receipt_story)
MessageAdmin.story = Story("console/conversations/one_message.html")
MemoryTestAdmin.story = Story("console/cases/memory_test.html", case_page.get_test_story)
ReadOnlyAdmin.list_doors = staticmethod(erasing.list_doors)  # type: ignore[method-assign]


@admin.register(PageRead)
class PageReadAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "person", "shown", "subject", "tenant")
    list_filter = ("created_at", "tenant")
    search_fields = ("person", "page")
    id_search = ("id", "subject")
    shown = column("page", lambda read: page_reads.render_page(read.page), "page")


register_lists()
