"""Answering agents: retrieve, context, recent episodes, and what is known of a conversation."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeVar

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request as HttpRequest
from rest_framework.response import Response

from episodic import queries as episodic_queries
from episodic.api import render_episode
from episodic.models import Episode, Message
from jobs.models import Job, Kind, State
from memoryproject import tokens
from memoryproject.errors import NotFound
from memoryproject.fields import (
    Strict,
    say_moment,
)
from memoryproject.pages import PageQuery, page_schema, take_page
from memoryproject.tenancy.models import Scope, Tenant
from memoryproject.views import KeyedView, markdown_response
from retrieval import fencing, markdown, recall
from retrieval.fencing import Fence
from retrieval.forms import (
    ContextInput,
    ConversationOutput,
    FullEpisode,
    RawAnswer,
    RecentInput,
    RecentTextInput,
    RetrievalOutput,
    RetrieveInput,
)
from retrieval.models import Retrieval, RetrievalHit
from retrieval.recall import Answer
from semantic import queries as semantic_queries
from semantic.renderings import render_fact

Answered = TypeVar("Answered", bound=HttpResponse)


class Answering(KeyedView):
    """Runs a recall for the caller."""

    scope = Scope.READ
    kind: Retrieval.Kind

    def answer(self, form: type[Strict]) -> Answer:
        """Return the answer to the checked request."""
        given = self.read(form)
        request = recall.Request(conversation=given.pop("conversation_id"), kind=self.kind, **given)
        return recall.recall(
            tenant=self.tenant(), asked_by=self.key(), request=request, now=timezone.now()
        )


class RetrieveMemory(Answering):
    """Facts and episodes, for a language model to read."""

    kind = Retrieval.Kind.RETRIEVE

    @extend_schema(
        operation_id="retrieve_memory",
        request=RetrieveInput,
        responses={(200, "text/markdown"): OpenApiTypes.STR},
        description="Searches facts and episodes of a conversation and returns markdown; an "
        "empty body where nothing matches. Served episodes are reviewed later by how they were "
        "used.",
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        return _as_markdown(self.answer(RetrieveInput))


class RetrieveMemoryRaw(Answering):
    """Facts and episodes as JSON."""

    kind = Retrieval.Kind.RETRIEVE_RAW

    @extend_schema(operation_id="retrieve_memory_raw", request=RetrieveInput, responses=RawAnswer)
    def post(self, request: HttpRequest) -> Response:
        answer = self.answer(RetrieveInput)
        external_id = uuid.UUID(answer.receipt.parameters["conversation_id"])
        body = render_raw(answer, external_id)
        return _with_headers(Response(body), answer)


class ContextPreRetrieve(Answering):
    """Facts alone, for a system prompt."""

    kind = Retrieval.Kind.CONTEXT

    @extend_schema(
        operation_id="context_pre_retrieve",
        request=ContextInput,
        responses={(200, "text/markdown"): OpenApiTypes.STR},
        description="Searches facts only. Nothing is reviewed afterwards. The fields "
        "`episodic_limit` and `detail` are passed over.",
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        return _as_markdown(self.answer(ContextInput))


def _as_markdown(answer: Answer) -> HttpResponse:
    return _with_headers(markdown_response(answer.text), answer)


def _with_headers(response: Answered, answer: Answer) -> Answered:
    response["Memory-Receipt"] = str(answer.receipt.id)
    response["Memory-Indexed-Through"] = str(answer.progress.indexed_through_seq)
    response["Memory-Pending"] = str(answer.progress.pending)
    response["Memory-Token-Counter"] = tokens.in_use().name
    if answer.degraded:
        response["Memory-Degraded"] = answer.degraded
    return _name_fence(response, answer.fence)


def _name_fence(response: Answered, fence: Fence | None) -> Answered:
    if fence:
        response["Memory-Fence"] = fence.nonce
    return response


def render_fence(fence: Fence | None) -> dict[str, str] | None:
    """Return the marks as JSON."""
    if fence is None:
        return None
    return {"nonce": fence.nonce, "opening": fence.opening, "closing": fence.closing}


def render_raw(answer: Answer, external_id: uuid.UUID) -> dict[str, Any]:
    """Return an answer as JSON, facts and episodes each best first."""
    facts = [
        {
            **render_fact(hit.fact, external_id, hit.evidence),
            "score": hit.found.score,
        }
        for hit in answer.facts
    ]
    episodes = [
        {**_full_episode(hit.episode, external_id, hit.messages), "score": hit.found.score}
        for hit in answer.episodes
    ]
    sources = [(hit.found.memory_id, hit.messages) for hit in answer.facts]
    sources += [(hit.found.memory_id, hit.messages) for hit in answer.episodes]
    return {
        "semantic": facts,
        "episodic": episodes,
        "sources": {
            str(memory_id): [_render_source(message) for message in messages]
            for memory_id, messages in sources
        },
        "blocks": None
        if answer.blocks is None
        else [
            {"text": block.text, "sources": [_render_source(row) for row in block.messages]}
            for block in answer.blocks
        ],
        "recent": None
        if answer.receipt.parameters["min_seq"] is None
        else [{**_render_source(row), "content": row.content} for row in answer.recent],
        "explain": _explain(answer) if answer.receipt.parameters["explain"] else None,
        "fence": render_fence(answer.fence),
        "receipt": str(answer.receipt.id),
        "indexed_through_seq": answer.progress.indexed_through_seq,
        "pending": answer.progress.pending,
        "degraded": answer.degraded or None,
        "counter": tokens.in_use().name,
    }


def _explain(answer: Answer) -> dict[str, Any]:
    """Return how each leg did and how each memory was found, by memory id."""
    return {
        "legs": answer.receipt.counts,
        "hits": {
            str(found.memory_id): {
                "rank": found.rank,
                "lexical_rank": found.lexical_rank,
                "vector_rank": found.vector_rank,
                "rrf": found.rrf,
                "retrievability": found.retrievability,
                "score": found.score,
                "terms": list(found.terms),
            }
            for found in (hit.found for hit in answer.hits)
        },
    }


def _full_episode(
    episode: Episode, external_id: uuid.UUID, messages: Sequence[Message]
) -> dict[str, Any]:
    return {
        **render_episode(episode, external_id),
        "messages": [{"role": row.role, "content": row.content} for row in messages],
    }


def _render_source(message: Message) -> dict[str, Any]:
    return {
        "message_id": str(message.id),
        "seq": message.seq,
        "role": message.role,
        "name": message.name or None,
        "timestamp": say_moment(message.occurred_at),
        "metadata": message.metadata,
    }


class Recent(KeyedView):
    """Loads the newest episodes."""

    scope = Scope.READ

    def load(self, given: dict[str, Any]) -> tuple[uuid.UUID, list[Episode]]:
        """Return the conversation asked about and its newest episodes, newest first."""
        external_id = given["conversation_id"]
        conversation = episodic_queries.find_conversation(
            tenant=self.tenant(), external_id=external_id
        )
        if conversation is None:
            return external_id, []
        days = given.get("days_limit")
        since = timezone.now() - timedelta(days=days) if days else None
        return external_id, episodic_queries.recent_episodes(
            conversation=conversation, created_since=since, at_most=given["limit"]
        )


class RecentMemory(Recent):
    """The newest episodes as markdown."""

    @extend_schema(
        operation_id="recent_memory",
        request=RecentTextInput,
        responses={(200, "text/markdown"): OpenApiTypes.STR},
        description="The newest episodes by creation, newest first.",
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        given = self.read(RecentTextInput)
        _, episodes = self.load(given)
        fence = fencing.make_fence(wanted=given["fence"])
        text = markdown.render_recent(episodes, now=timezone.now())
        return _name_fence(markdown_response(fencing.wrap(text, fence)), fence)


class RecentMemoryRaw(Recent):
    """The newest episodes as JSON."""

    @extend_schema(
        operation_id="recent_memory_raw", request=RecentInput, responses=FullEpisode(many=True)
    )
    def post(self, request: HttpRequest) -> Response:
        external_id, episodes = self.load(self.read(RecentInput))
        messages = episodic_queries.messages_of_episodes(
            tenant=self.tenant(), episode_ids=[episode.id for episode in episodes]
        )
        return Response([_full_episode(row, external_id, messages[row.id]) for row in episodes])


class ConversationState(KeyedView):
    """How far a conversation is processed."""

    scope = Scope.READ

    @extend_schema(operation_id="get_conversation", responses=ConversationOutput)
    def get(self, request: HttpRequest, conversation_id: uuid.UUID) -> Response:
        conversation = episodic_queries.find_conversation(
            tenant=self.tenant(), external_id=conversation_id
        )
        if conversation is None:
            raise NotFound("There is no such conversation.")
        progress = episodic_queries.measure_progress(conversation)
        # Copying to files is nothing that an answer waits for.
        jobs = Job.objects.of(self.tenant()).filter(scope=conversation.id)
        open_jobs = jobs.filter(state__in=[State.READY, State.RUNNING]).exclude(kind=Kind.MIRROR)
        return Response(
            {
                "id": str(conversation.external_id),
                "messages": progress.messages,
                "pending": progress.pending,
                "episodes": episodic_queries.count_episodes(conversation),
                "facts": semantic_queries.count_active(conversation),
                "open_jobs": open_jobs.count(),
                "set_aside": episodic_queries.count_set_aside(conversation),
                "waits_for": sorted(set(open_jobs.values_list("error_class", flat=True)) - {""}),
                "indexed_through_seq": progress.indexed_through_seq,
            }
        )


class Retrievals(KeyedView):
    """Lists receipts, newest first."""

    scope = Scope.READ

    @extend_schema(
        operation_id="list_retrievals",
        parameters=[PageQuery],
        responses=page_schema(RetrievalOutput, "RetrievalPage"),
    )
    def get(self, request: HttpRequest) -> Response:
        query = self.read(PageQuery, request.query_params.dict())
        rows = Retrieval.objects.of(self.tenant()).select_related("conversation", "asked_by")
        if "conversation_id" in query:
            rows = rows.filter(conversation__external_id=query["conversation_id"])
        return Response(
            take_page(rows, query=query, render=lambda page: _render_receipts(self.tenant(), page))
        )


class OneRetrieval(KeyedView):
    """The receipt of one answer, as the header `Memory-Receipt` names it."""

    scope = Scope.READ

    @extend_schema(operation_id="get_retrieval", responses=RetrievalOutput)
    def get(self, request: HttpRequest, retrieval_id: uuid.UUID) -> Response:
        rows = Retrieval.objects.of(self.tenant()).select_related("conversation", "asked_by")
        receipt = rows.filter(id=retrieval_id).first()
        if receipt is None:
            raise NotFound("There is no such receipt.")
        return Response(_render_receipts(self.tenant(), [receipt])[0])


def _render_receipts(tenant: Tenant, page: Sequence[Retrieval]) -> list[dict[str, Any]]:
    """Return receipts with their hits, in the same order, in one query."""
    hits = RetrievalHit.objects.of(tenant).filter(retrieval__in=page)
    by_retrieval: dict[uuid.UUID, list[dict[str, Any]]] = {row.id: [] for row in page}
    for hit in hits.order_by("retrieval_id", "memory_kind", "rank", "id"):
        by_retrieval[hit.retrieval_id].append(_render_hit(hit))
    return [
        {
            "id": str(row.id),
            "conversation_id": str(row.conversation.external_id) if row.conversation else None,
            "asked_by": row.asked_by.name if row.asked_by else None,
            "kind": row.kind,
            "query": row.query,
            "parameters": row.parameters,
            "embedding_model": row.embedding_model,
            "counts": row.counts,
            "tokens": row.tokens,
            "degraded": row.degraded or None,
            "created_at": say_moment(row.created_at),
            "hits": by_retrieval[row.id],
        }
        for row in page
    ]


def _render_hit(hit: RetrievalHit) -> dict[str, Any]:
    return {
        "memory_id": str(hit.memory_id),
        "kind": hit.memory_kind,
        "rank": hit.rank,
        "score": hit.score,
        "lexical_rank": hit.lexical_rank,
        "vector_rank": hit.vector_rank,
    }
