"""The calls for a conversation's newest episodes and for how far it is processed."""

import uuid
from datetime import timedelta
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic import queries as episodic_queries
from episodic.models import Episode
from episodic.read_api import OwnerOutput
from indexing.models import MemoryKind
from jobs.models import Job, Kind, State
from memoryproject.edge import fields
from memoryproject.edge.headers import markdown_response, set_headers
from memoryproject.edge.schema import describe
from memoryproject.tenancy.views import ReadView
from retrieval import markdown
from retrieval.api.answers import MARKDOWN, FenceField, LinksField
from retrieval.api.retrieve import FullEpisode, render_episode
from retrieval.api.scoped import ScopedInput, default_scope
from retrieval.corrections import set_corrections
from retrieval.hits import Hit, load_candidates
from retrieval.scope import Scope, find_scope
from semantic import queries as semantic_queries

RECENT_LIMIT = 10
DAYS_AT_MOST = 36_500


class RecentInput(ScopedInput):
    """The body of `recent_memory/raw`."""

    days_limit = fields.WholeNumberField(
        "Only so many days back.", required=False, min_value=1, max_value=DAYS_AT_MOST
    )
    limit = fields.WholeNumberField(
        "Episodes at most.", default=RECENT_LIMIT, min_value=1, max_value=100
    )


class RecentTextInput(RecentInput):
    """The body of `recent_memory`."""

    fence = FenceField()
    links = LinksField()


class ConversationOutput(OwnerOutput):
    """Whose a conversation is, and how far it is processed."""

    id = serializers.UUIDField(help_text="The UUID that the agent chose.")
    messages = serializers.IntegerField(
        help_text="Messages stored; those that were erased are not counted."
    )
    pending = serializers.IntegerField(help_text="Messages that no episode holds yet.")
    episodes = serializers.IntegerField(help_text="Episodes made of them.")
    facts = serializers.IntegerField(help_text="Active facts.")
    open_jobs = serializers.IntegerField(help_text="Jobs ready or running.")
    set_aside = serializers.IntegerField(
        help_text="Messages and episodes that no run got past; `conversations/{id}/retry` takes "
        "them up again."
    )
    waits_for = serializers.ListField(
        child=serializers.CharField(),
        help_text="Why open jobs failed last: `BudgetSpent` waits for the next day or for a "
        "higher budget, `ModelUnavailable` for the language model.",
    )
    indexed_through_seq = serializers.IntegerField(help_text="All up to this are in episodes.")


class Recent(ReadView):
    """Loads the newest episodes."""

    for_users = True
    memory_operations = {"POST": "search_memory"}

    def read_scope(self, form: type[ScopedInput]) -> tuple[dict[str, Any], Scope | None]:
        """Return the checked input, and the scope; None if there is nothing to search."""
        params = self.read(form, context=default_scope(self.tenant(), self.key()))
        asked_in, conversation = params["conversation_id"], None
        if asked_in is not None:
            conversation = episodic_queries.find_conversation(self.tenant(), asked_in)
        names = ("scope", "user_id", "agent_id", "exclude_current")
        options = {name: params[name] for name in names if name in params}
        return params, find_scope(tenant=self.tenant(), conversation=conversation, **options)

    def find_episodes(self, params: dict[str, Any], scope: Scope | None) -> list[Episode]:
        """Return the newest episodes of the conversations asked about, newest first."""
        if scope is None:
            return []
        days = params.get("days_limit")
        episodes = episodic_queries.recent_episodes(
            tenant=self.tenant(),
            homes=None if scope.is_everything else scope.homes,
            agent_id=scope.agent_id,
            left_out=scope.left_out,
            created_since=timezone.now() - timedelta(days=days) if days else None,
            at_most=params["limit"],
        )
        if scope.has_corrections:
            set_corrections(self.tenant(), episodes)
        return episodes


class RecentMemory(Recent):
    @describe("recent_memory", RecentTextInput, MARKDOWN, headers="fence")
    def post(self, request: Request) -> HttpResponse:
        """Get the newest episodes, as markdown.

        The newest episodes by creation, newest first.
        200: Markdown for a prompt; an empty body where there is no episode.
        """
        params, scope = self.read_scope(RecentTextInput)
        fence = markdown.make_fence(wanted=params["fence"])
        links = params.get("links", self.key().links)
        episodes = self.find_episodes(params, scope)
        text = markdown.render_recent(episodes, links, now=timezone.now())
        return set_headers(markdown_response(fence.wrap_text(text)), fence=fence.nonce)


class RecentMemoryRaw(Recent):
    @describe("recent_memory_raw", RecentInput, FullEpisode(many=True), headers="cut")
    def post(self, request: Request) -> Response:
        """Get the newest episodes, as JSON.

        200: The episodes with their messages, newest first; an empty list where there is none.
        """
        params, scope = self.read_scope(RecentInput)
        episodes = self.find_episodes(params, scope)
        if not scope or not episodes:
            return Response([])
        hits = [
            Hit(memory_id=row.id, shelf=MemoryKind.EPISODE, rank=rank, score=0.0)
            for rank, row in enumerate(episodes, start=1)
        ]
        loaded = load_candidates(scope, episodes=hits, whole=True)
        response = Response([render_episode(hit) for hit in loaded.episodes])
        return set_headers(response, cut=len(loaded.beyond) or None)


class ConversationState(ReadView):
    for_users = True

    @describe("get_conversation", answers=ConversationOutput)
    def get(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """See how far a conversation is processed.

        200: Counts of the conversation as they are now.
        """
        conversation = episodic_queries.get_by_external_id(
            tenant=self.tenant(), external_id=conversation_id
        )
        progress = episodic_queries.measure_progress(conversation)
        # An answer does not depend on copies in files.
        jobs = Job.objects.of(self.tenant()).filter(scope=conversation.id)
        open_jobs = jobs.filter(state__in=[State.READY, State.RUNNING]).exclude(kind=Kind.MIRROR)
        return Response(
            {
                **OwnerOutput(conversation).data,
                "id": str(conversation.external_id),
                "messages": progress.messages,
                "pending": progress.pending,
                "episodes": episodic_queries.episodes_of(conversation).count(),
                "facts": semantic_queries.active_in(conversation).count(),
                "open_jobs": open_jobs.count(),
                "set_aside": episodic_queries.count_set_aside(conversation),
                "waits_for": sorted(set(open_jobs.values_list("error_class", flat=True)) - {""}),
                "indexed_through_seq": progress.indexed_through_seq,
            }
        )
