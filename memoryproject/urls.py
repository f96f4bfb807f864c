"""Every address that the server answers."""

from django.contrib import admin
from django.http import Http404
from django.templatetags.static import static
from django.urls import include, path, re_path, register_converter
from django.views.defaults import page_not_found
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerSplitView

from episodic import api as episodic
from episodic import read_api as episodic_reading
from jobs import api as jobs
from memoryproject.edge.description import Description
from memoryproject.edge.fields import IdConverter
from memoryproject.tenancy.api import WhoAmI
from retrieval.api import conversations, profiles, receipts
from retrieval.api import retrieve as retrieval
from semantic import api as semantic
from semantic import changeset_api as changesets
from semantic import curation_api as curation
from wings.erasure import api as erasure
from wings.events import api as webhooks
from wings.forgetting import api as forget
from wings.memory_tests import api as tests
from wings.navigation.api import contexts, links, memories, reconstruct, search
from wings.notes import api as notes
from wings.operations.health import HealthLive, HealthReady
from wings.operations.metrics import show_metrics
from wings.people import api as people
from wings.rollback import api as rollbacks

register_converter(IdConverter, "id")

api = [
    path("add_message", episodic.AddMessage.as_view()),
    path("add_messages", episodic.AddMessages.as_view()),
    path("flush", episodic.Flush.as_view()),
    path("forget", forget.Forget.as_view()),
    path("messages", episodic_reading.Messages.as_view()),
    path("messages/<id:message_id>", episodic_reading.OneMessage.as_view()),
    path("episodes", episodic_reading.Episodes.as_view()),
    path("episodes/<id:episode_id>", semantic.OneEpisode.as_view()),
    path("facts", semantic.Facts.as_view()),
    path("diff", changesets.Diff.as_view()),
    path("facts/<id:fact_id>", semantic.OneFact.as_view()),
    path("facts/<id:fact_id>/invalidate", curation.InvalidateFact.as_view()),
    path("facts/<id:fact_id>/restore", curation.RestoreFact.as_view()),
    path("facts/<id:fact_id>/correct", curation.CorrectFact.as_view()),
    path("facts/<id:fact_id>/marks", curation.Marks.as_view()),
    path("facts/<id:fact_id>/approve", curation.ApproveFact.as_view()),
    path("facts/<id:fact_id>/reject", curation.RejectFact.as_view()),
    path("changesets", changesets.Changesets.as_view()),
    path("changesets/<id:changeset_id>", changesets.OneChangeset.as_view()),
    path("changesets/<id:changeset_id>/revert", changesets.RevertChangeset.as_view()),
    path("suggestions", curation.Suggestions.as_view()),
    path("suggestions/<id:suggestion_id>/accept", curation.AcceptSuggestion.as_view()),
    path("suggestions/<id:suggestion_id>/decline", curation.DeclineSuggestion.as_view()),
    path("rollbacks", rollbacks.Rollbacks.as_view()),
    path("rollbacks/<id:rollback_id>", rollbacks.OneRollback.as_view()),
    path("rollbacks/<id:rollback_id>/lift", rollbacks.LiftRollback.as_view()),
    path("notes", notes.Notes.as_view()),
    path("notes/batch", notes.NoteBatch.as_view()),
    path("notes/<id:note_id>", notes.OneNote.as_view()),
    path("notes/<id:note_id>/versions", notes.NoteVersions.as_view()),
    path("links", notes.Links.as_view()),
    path("links/<id:link_id>", notes.OneLink.as_view()),
    path("memories/<id:memory_id>", memories.OneMemory.as_view()),
    path("memories/<id:memory_id>/chunk", memories.MemoryChunk.as_view()),
    path("memories/<id:memory_id>/links", links.MemoryLinks.as_view()),
    path("memories/<id:memory_id>/walk", links.MemoryWalk.as_view()),
    path("contexts", contexts.Contexts.as_view()),
    path("contexts/<id:context_id>", contexts.OneContext.as_view()),
    path("contexts/<id:context_id>/add", contexts.ContextAdd.as_view()),
    path("contexts/<id:context_id>/text", contexts.ContextText.as_view()),
    path("retrievals", receipts.Retrievals.as_view()),
    path("retrievals/<id:retrieval_id>", receipts.OneRetrieval.as_view()),
    path("conversations", episodic_reading.Conversations.as_view()),
    path("retrievals/<id:retrieval_id>/replay", receipts.RetrievalReplay.as_view()),
    path("memory_tests", tests.MemoryTests.as_view()),
    path("memory_tests/run", tests.RunMemoryTests.as_view()),
    path("memory_tests/<id:test_id>", tests.OneMemoryTest.as_view()),
    path("conversations/<id:conversation_id>", conversations.ConversationState.as_view()),
    path("conversations/<id:conversation_id>/close", episodic.CloseConversation.as_view()),
    path("conversations/<id:conversation_id>/user", episodic.ConversationUser.as_view()),
    path("conversations/<id:conversation_id>/retry", episodic.RetrySetAside.as_view()),
    path("users/<path:user_id>/profile", profiles.UserProfile.as_view()),
    path("agents/<path:agent_id>/profile", profiles.AgentProfile.as_view()),
    path("conversations/<id:conversation_id>/profile", profiles.ConversationProfile.as_view()),
    path("people", people.People.as_view()),
    path("people/<id:person_id>", people.OnePerson.as_view()),
    path("people/<id:person_id>/merge", people.MergePerson.as_view()),
    path("people/<id:person_id>/unmerge", people.UnmergePerson.as_view()),
    path("people/<id:person_id>/export", people.ExportPerson.as_view()),
    path("jobs/<id:job_id>", jobs.JobState.as_view()),
    path("jobs/<id:job_id>/retry", jobs.JobRetry.as_view()),
    path("usage", jobs.Usage.as_view()),
    path("webhooks", webhooks.Webhooks.as_view()),
    path("webhooks/<id:webhook_id>", webhooks.OneWebhook.as_view()),
    path("webhooks/<id:webhook_id>/rotate", webhooks.RotateWebhook.as_view()),
    path("webhooks/<id:webhook_id>/events", webhooks.WebhookEvents.as_view()),
    path("events/<id:event_id>/redeliver", webhooks.RedeliverEvent.as_view()),
    path("erasures", erasure.Erasures.as_view()),
    path("erasures/<id:erasure_id>", erasure.OneErasure.as_view()),
    path("retrieve_memory", retrieval.RetrieveMemory.as_view()),
    path("retrieve_memory/raw", retrieval.RetrieveMemoryRaw.as_view()),
    path("context_pre_retrieve", retrieval.ContextPreRetrieve.as_view()),
    path("reconstruct_context", reconstruct.ReconstructContext.as_view()),
    path("search", search.Search.as_view()),
    path("recent_memory", conversations.RecentMemory.as_view()),
    path("recent_memory/raw", conversations.RecentMemoryRaw.as_view()),
    path("whoami", WhoAmI.as_view()),
    path("health/live", HealthLive.as_view()),
    path("health/ready", HealthReady.as_view()),
    path("schema/", Description.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
]

urlpatterns = [
    path("metrics", show_metrics),
    path("", RedirectView.as_view(url="/admin/")),
    path("favicon.ico", RedirectView.as_view(url=static("console/favicon.svg"))),
    path("admin/", include("wings.console.signin.urls")),
    path("admin/", include("wings.console.urls")),
    # Django's redirect to a page on the site: no table has one, and a bad id would be a 500.
    re_path(r"^admin/r/", admin.site.admin_view(page_not_found), {"exception": Http404()}),
    path("admin/", admin.site.urls),
    *[path(f"api/v0/{route.pattern}", route.callback, name=route.name) for route in api],
]
