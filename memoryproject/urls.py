"""Every address that the server answers."""

from django.contrib import admin
from django.http import Http404
from django.urls import include, path, re_path
from django.views.defaults import page_not_found
from drf_spectacular.views import SpectacularSwaggerSplitView

from episodic import api as episodic
from episodic import read_api as episodic_reading
from jobs import api as jobs
from memoryproject.edge.description import Description
from memoryproject.tenancy.api import WhoAmI
from memoryproject.wings import list_wings
from retrieval.api import conversations, profiles, receipts
from retrieval.api import retrieve as retrieval
from semantic import api as semantic
from semantic import changeset_api as changesets
from semantic import curation_api as curation

wings = list_wings()

api = [
    path("add_message", episodic.AddMessage.as_view()),
    path("add_messages", episodic.AddMessages.as_view()),
    path("flush", episodic.Flush.as_view()),
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
    path("facts/<id:fact_id>/approve", curation.ApproveFact.as_view()),
    path("facts/<id:fact_id>/reject", curation.RejectFact.as_view()),
    path("changesets", changesets.Changesets.as_view()),
    path("changesets/<id:changeset_id>", changesets.OneChangeset.as_view()),
    path("changesets/<id:changeset_id>/revert", changesets.RevertChangeset.as_view()),
    path("retrievals", receipts.Retrievals.as_view()),
    path("retrievals/<id:retrieval_id>", receipts.OneRetrieval.as_view()),
    path("conversations", episodic_reading.Conversations.as_view()),
    path("retrievals/<id:retrieval_id>/replay", receipts.RetrievalReplay.as_view()),
    path("conversations/<id:conversation_id>", conversations.ConversationState.as_view()),
    path("conversations/<id:conversation_id>/close", episodic.CloseConversation.as_view()),
    path("conversations/<id:conversation_id>/user", episodic.ConversationUser.as_view()),
    path("conversations/<id:conversation_id>/retry", episodic.RetrySetAside.as_view()),
    path("users/<path:user_id>/profile", profiles.UserProfile.as_view()),
    path("agents/<path:agent_id>/profile", profiles.AgentProfile.as_view()),
    path("conversations/<id:conversation_id>/profile", profiles.ConversationProfile.as_view()),
    path("jobs/<id:job_id>", jobs.JobState.as_view()),
    path("jobs/<id:job_id>/retry", jobs.JobRetry.as_view()),
    path("usage", jobs.Usage.as_view()),
    path("retrieve_memory", retrieval.RetrieveMemory.as_view()),
    path("retrieve_memory/raw", retrieval.RetrieveMemoryRaw.as_view()),
    path("context_pre_retrieve", retrieval.ContextPreRetrieve.as_view()),
    path("recent_memory", conversations.RecentMemory.as_view()),
    path("recent_memory/raw", conversations.RecentMemoryRaw.as_view()),
    path("whoami", WhoAmI.as_view()),
    path("schema/", Description.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    *(route for wing in wings for route in wing.routes),
]

urlpatterns = [
    *(address for wing in wings for address in wing.addresses),
    path("admin/", include(([page for wing in wings for page in wing.pages], "console"))),
    # Django's redirect to a page on the site: no table has one, and a bad id would be a 500.
    re_path(r"^admin/r/", admin.site.admin_view(page_not_found), {"exception": Http404()}),
    path("admin/", admin.site.urls),
    *[path(f"api/v0/{route.pattern}", route.callback, name=route.name) for route in api],
]
