"""Answering agents: retrieve, context, recent episodes, and what is known of a conversation."""

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from episodic import queries as episodic_queries
from episodic.models import Episode, Message
from episodic.queries import Progress
from episodic.read_api import OwnerOutput
from indexing.models import MemoryKind
from jobs.models import Job, Kind, State
from memoryproject.edge.fields import Strict, say_moment
from memoryproject.edge.schema import describe
from memoryproject.tenancy.views import ReadView
from memoryproject.text import tokens
from memoryproject.text.cleaning import print_links
from retrieval import markdown, recall
from retrieval.api import forms
from retrieval.api.forms import AnyResponse, set_headers
from retrieval.hits import EpisodeHit, FactHit, Hit, MessageRow, load_candidates
from retrieval.models import Retrieval
from retrieval.recall import Draft
from retrieval.search.in_conversation import RecallRequest
from semantic import queries as semantic_queries
from semantic.correction_marks import set_corrections


class Answering(ReadView):
    """Runs a recall for the caller."""

    for_users = True
    kind: Retrieval.Kind
    memory_operations = {"POST": "search_memory"}

    def answer(self, form: type[Strict]) -> tuple[Draft, Progress]:
        params = {"links": self.key().links, **self.read(form)}
        request = RecallRequest(kind=self.kind, **params)
        return recall.recall(
            tenant=self.tenant(), asked_by=self.key(), request=request, now=timezone.now()
        )


class RetrieveMemory(Answering):
    kind = Retrieval.Kind.RETRIEVE

    @describe("retrieve_memory", forms.RetrieveInput, forms.MARKDOWN)
    def post(self, request: Request) -> HttpResponse:
        return _as_markdown(*self.answer(forms.RetrieveInput))


class RetrieveMemoryRaw(Answering):
    """Facts and episodes as JSON."""

    kind = Retrieval.Kind.RETRIEVE_RAW

    @describe("retrieve_memory_raw", forms.RetrieveInput, forms.RawAnswer)
    def post(self, request: Request) -> Response:
        draft, progress = self.answer(forms.RetrieveInput)
        return _with_headers(Response(render_raw(draft, progress)), draft, progress)


class ContextPreRetrieve(Answering):
    kind = Retrieval.Kind.CONTEXT

    @describe("context_pre_retrieve", forms.ContextInput, forms.MARKDOWN)
    def post(self, request: Request) -> HttpResponse:
        return _as_markdown(*self.answer(forms.ContextInput))


def _as_markdown(draft: Draft, progress: Progress) -> HttpResponse:
    return _with_headers(forms.markdown_response(draft.chosen.text), draft, progress)


def _with_headers(response: AnyResponse, draft: Draft, progress: Progress) -> AnyResponse:
    relevance = draft.receipt.relevance
    return set_headers(
        response,
        receipt=draft.receipt.id,
        degraded=draft.receipt.degraded,
        indexed_through=progress.indexed_through_seq,
        pending=progress.pending,
        token_counter=tokens.in_use().name,
        cut=len(draft.chosen.cut) or None,
        relevance=None if relevance is None else f"{relevance:.2f}",
        empty="min_relevance" if draft.is_left_out else None,
        fence=draft.chosen.fence.nonce,
    )


def render_raw(draft: Draft, progress: Progress) -> dict[str, Any]:
    """Return an answer as JSON, facts and episodes each best first."""
    chosen, receipt = draft.chosen, draft.receipt
    params = receipt.parameters
    blocks = [
        {"text": block.text, "sources": [_render_source(row) for row in block.messages]}
        for block in chosen.blocks or ()
    ]
    recent = [
        {**_render_source(row), "content": row.content}
        for row in (chosen.recent.messages if chosen.recent else ())
    ]
    corrections = {"corrections": chosen.corrections} if chosen.corrections else {}
    return {
        "semantic": [_render_fact(hit) for hit in chosen.facts],
        "episodic": [
            {**_render_episode_hit(hit), "score": hit.found.score} for hit in chosen.episodes
        ],
        "sources": {
            str(hit.found.memory_id): [_render_source(row) for row in hit.messages]
            for hit in chosen.hits
        },
        "blocks": None if chosen.blocks is None else blocks,
        "cut": list(chosen.cut),
        "recent": None if params["min_seq"] is None else recent,
        "explain": _explain(draft) if params["explain"] else None,
        "fence": forms.FenceOutput(chosen.fence).data if chosen.fence.nonce else None,
        "relevance": receipt.relevance,
        "receipt": str(receipt.id),
        "indexed_through_seq": progress.indexed_through_seq,
        "pending": progress.pending,
        "degraded": receipt.degraded or None,
        "counter": tokens.in_use().name,
        **corrections,
    }


def _render_fact(hit: FactHit) -> dict[str, Any]:
    """Return what a `RawFact` has: hundreds of rows go through here, so no serializer does it."""
    return {
        "id": hit.id,
        "conversation_id": str(hit.conversation_id),
        "category": hit.category,
        "fact": hit.fact,
        "keywords": hit.keywords,
        "source_episodic_ids": list(hit.episode_ids),
        "valid_at": say_moment(hit.valid_at),
        "invalid_at": hit.invalid_at and say_moment(hit.invalid_at),
        "score": hit.found.score,
    }


def _render_episode_hit(hit: EpisodeHit) -> dict[str, Any]:
    """Return what a `RawEpisode` has, its score aside."""
    values = {
        name: say_moment(datetime.fromisoformat(value)) if value and name.endswith("_at") else value
        for name, value in hit.details.items()
    }
    return {
        "id": hit.id,
        "conversation_id": str(hit.conversation_id),
        "title": hit.title,
        "summary": hit.summary,
        **values,
        "messages": [{"role": row.role, "content": row.content} for row in hit.messages],
    }


def _render_source(row: MessageRow | Message) -> dict[str, Any]:
    """Return what a `Source` has."""
    return {
        "message_id": str(row.id),
        "seq": row.seq,
        "role": row.role,
        "name": row.name or None,
        "timestamp": say_moment(row.occurred_at),
        "metadata": row.metadata,
    }


def _explain(draft: Draft) -> dict[str, Any]:
    """Return how each leg did and how each memory was found, by memory id."""
    hits = {str(hit.memory_id): forms.HowFound(hit).data for hit in draft.served}
    return {"legs": draft.receipt.counts, "hits": hits}


class Recent(ReadView):
    """Loads the newest episodes."""

    for_users = True
    memory_operations = {"POST": "search_memory"}

    def find_episodes(self, params: dict[str, Any]) -> list[Episode]:
        """Return the newest episodes of the conversation asked about, newest first."""
        conversation = episodic_queries.find_conversation(
            tenant=self.tenant(), external_id=params["conversation_id"]
        )
        if conversation is None:
            return []
        days = params.get("days_limit")
        since = timezone.now() - timedelta(days=days) if days else None
        episodes = episodic_queries.recent_episodes(
            conversation=conversation, created_since=since, at_most=params["limit"]
        )
        if conversation.has_corrections:
            set_corrections(self.tenant(), episodes)
        return episodes


class RecentMemory(Recent):
    @describe("recent_memory", forms.RecentTextInput, forms.MARKDOWN)
    def post(self, request: Request) -> HttpResponse:
        params = self.read(forms.RecentTextInput)
        fence = markdown.make_fence(wanted=params["fence"])
        with print_links(params.get("links", self.key().links)):
            text = markdown.render_recent(self.find_episodes(params), now=timezone.now())
        return set_headers(forms.markdown_response(fence.wrap(text)), fence=fence.nonce)


class RecentMemoryRaw(Recent):
    """The newest episodes as JSON."""

    @describe("recent_memory_raw", forms.RecentInput, forms.FullEpisode(many=True))
    def post(self, request: Request) -> Response:
        episodes = self.find_episodes(self.read(forms.RecentInput))
        if not episodes:
            return Response([])
        hits = [
            Hit(memory_id=row.id, shelf=MemoryKind.EPISODE, rank=rank, score=0.0)
            for rank, row in enumerate(episodes, start=1)
        ]
        loaded = load_candidates(episodes[0].conversation, episodes=hits, whole=True)
        response = Response([_render_episode_hit(hit) for hit in loaded.episodes])
        return set_headers(response, cut=len(loaded.beyond) or None)


class ConversationState(ReadView):
    """How far a conversation is processed."""

    for_users = True

    @describe("get_conversation", answers=forms.ConversationOutput)
    def get(self, request: Request, conversation_id: uuid.UUID) -> Response:
        conversation = episodic_queries.get_by_external_id(
            tenant=self.tenant(), external_id=conversation_id
        )
        progress = episodic_queries.measure_progress(conversation)
        # Copying to files is nothing that an answer waits for.
        jobs = Job.objects.of(self.tenant()).filter(scope=conversation.id)
        open_jobs = jobs.filter(state__in=[State.READY, State.RUNNING]).exclude(kind=Kind.MIRROR)
        return Response(
            {
                **OwnerOutput(conversation).data,
                "id": str(conversation.external_id),
                "messages": progress.messages,
                "pending": progress.pending,
                "episodes": episodic_queries.episodes_of(conversation).count(),
                "facts": semantic_queries.count_active(conversation),
                "open_jobs": open_jobs.count(),
                "set_aside": episodic_queries.count_set_aside(conversation),
                "waits_for": sorted(set(open_jobs.values_list("error_class", flat=True)) - {""}),
                "indexed_through_seq": progress.indexed_through_seq,
            }
        )
