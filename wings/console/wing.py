"""The admin's own pages."""

from django.contrib.auth.models import User
from django.templatetags.static import static
from django.urls import include, path
from django.views.generic import RedirectView

from episodic.models import Conversation, Episode, Message, Withholding
from jobs.models import Job, LLMCall
from memoryproject.adminkit.base import Story
from memoryproject.tenancy.models import APIKey, Tenant
from memoryproject.wings import Wing
from retrieval.models import MemoryTest, Retrieval
from semantic.models import Changeset, Fact
from wings.console import lists, page_reads, urls
from wings.console.cases import page as case_page
from wings.console.conversations import episode_page, rollback
from wings.console.conversations import page as conversation_page
from wings.console.erasing import page as erasing
from wings.console.erasing.rows import ERASER
from wings.console.facts import actions, changes
from wings.console.facts import page as fact_page
from wings.console.instructions import page as instructions_page
from wings.console.jobs import page as job_page
from wings.console.keys import page as key_page
from wings.console.notes import links
from wings.console.notes import page as note_page
from wings.console.people import page as person_page
from wings.console.signin.adapters import remove_second_factors
from wings.console.webhooks import page as webhook_page
from wings.erasure.models import Erasure
from wings.events.models import Event, Webhook
from wings.instructions.models import InstructionVersion
from wings.notes.models import Link, Note
from wings.people.models import Person

SHOWS_CONTENT = (
    page_reads.HOME, "admin:jobs_job_change", "admin:autocomplete", "console:search",
    "console:case_file", "console:case", "console:case_test", "console:playground",
    "console:try_it", "console:link_remove", "console:compare",
    "console:review_queue", "console:review_decide", "console:review_allow", "console:ask_again",
    "console:fact_correct", "console:fact_invalidate", "console:fact_restore",
    "console:fact_marks", "console:facts_invalidate", "console:facts_restore",
    "console:changeset_revert", "console:note_change", "console:note_delete",
    "console:note_restore", "console:person_export", "console:person_merge",
    "console:person_known", "console:person_unmerge", "console:erase_person",
    "console:erase_user", "console:roll_back", "console:test_new", "console:hold_new",
)  # fmt: skip

WING = Wing(
    pages=urls.urlpatterns,
    stories={
        User: Story(actions=(remove_second_factors,)),
        Job: Story(
            "console/jobs/job.html", job_page.get_job_story, actions=(job_page.retry_selected,)
        ),
        Event: Story(actions=(job_page.redeliver_selected,)),
        Webhook: Story("console/webhooks/webhook.html", webhook_page.get_story),
        LLMCall: Story("console/jobs/call.html", job_page.get_call_story),
        APIKey: Story("console/keys/key.html", key_page.get_key_story),
        Tenant: Story("console/keys/tenant.html", key_page.get_tenant_story),
        Conversation: Story("console/conversations/conversation.html", conversation_page.get_story),
        Episode: Story("console/conversations/episode.html", episode_page.get_story),
        Erasure: Story("console/erasure.html", erasing.get_story),
        Fact: Story(
            "console/facts/fact.html",
            fact_page.get_story,
            actions=(actions.invalidate_selected, actions.restore_selected),
        ),
        Changeset: Story("console/facts/changeset.html", changes.get_story),
        Note: Story("console/notes/note.html", note_page.get_story),
        Link: Story("console/notes/link.html", links.get_link_story),
        InstructionVersion: Story("console/instructions/version.html", instructions_page.get_story),
        Person: Story("console/people/person.html", person_page.get_story),
        Withholding: Story("console/conversations/quarantine.html", rollback.get_story),
        Retrieval: Story("console/cases/receipt.html", case_page.get_receipt_story),
        Message: Story("console/conversations/one_message.html"),
        MemoryTest: Story("console/cases/memory_test.html", case_page.get_test_story),
    },
    list_doors=erasing.list_doors,
    prepare_rows=lists.prepare_rows,
    addresses=(
        path("", RedirectView.as_view(url="/admin/")),
        path("favicon.ico", RedirectView.as_view(url=static("console/favicon.svg"))),
        path("admin/", include("wings.console.signin.urls")),
    ),
    chores=(page_reads.delete_old,),
    erase=ERASER,
    shows_content=SHOWS_CONTENT,
)
