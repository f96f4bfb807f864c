"""The calls `retrieve_memory`, which answers with markdown or JSON, and `context_pre_retrieve`."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic.models import Message
from episodic.queries import Progress
from episodic.read_api import EpisodeOutput
from memoryproject.edge import fields
from memoryproject.edge.fields import say_moment
from memoryproject.edge.headers import AnyResponse, markdown_response, set_headers
from memoryproject.edge.schema import describe
from memoryproject.tenancy.views import ReadView
from memoryproject.text import tokens
from retrieval import recall
from retrieval.api.answers import (
    MARKDOWN,
    QUERIES_AT_MOST,
    QUERY,
    BudgetField,
    FenceField,
    KnownAtField,
    LinksField,
)
from retrieval.api.scoped import ScopedInput, default_scope
from retrieval.hits import EpisodeHit, FactHit, Hit, MessageRow
from retrieval.markdown import SHOWN_AT_MOST, Fence
from retrieval.models import Retrieval
from retrieval.recall import Draft
from retrieval.request import SEMANTIC_LIMIT, RecallRequest
from retrieval.search.in_conversation import EPISODIC_LIMIT
from semantic.renderings import CATEGORIES, FactOutput

DETAILS = ["auto", "none", "low", "high"]
GONE = "fusion"
"""Field of versions up to 0.2, now ignored: numbers for the formula, of little effect."""


class ContextInput(ScopedInput):
    """The body of `context_pre_retrieve`."""

    ignored = frozenset({"episodic_limit", "detail", GONE})

    query = fields.ContentField(help_text=QUERY)
    queries = serializers.ListField(
        child=fields.ContentField(),
        required=False,
        max_length=QUERIES_AT_MOST,
        help_text="Further questions, whose answers share the budget: one for each step of a "
        "question of several steps finds more than all in one. Only with `max_tokens`.",
    )
    semantic_limit = fields.WholeNumberField(
        default=SEMANTIC_LIMIT, min_value=1, max_value=200, help_text="Largest number of facts."
    )
    category = fields.WordField(
        choices=CATEGORIES, required=False, help_text="Only facts of this category."
    )
    preferences_only = fields.FlagField(
        default=False,
        help_text="Preferences, guidelines and dangers alone: what holds whatever an agent works "
        "at, such as a coding agent in another project of its user. Not with `category`.",
    )
    max_tokens = BudgetField(
        required=False,
        help_text="Pack the most useful text into this budget, never over it.",
    )
    as_of = fields.AskedMomentField(
        required=False,
        help_text="Answer with what was true then. ISO 8601, UTC without an offset, or ms since "
        "1970; absent: with what is believed now.",
    )
    known_at = KnownAtField()
    min_seq = fields.WholeNumberField(
        required=False,
        min_value=1,
        help_text="Include what was said up to this message, in an episode or not.",
    )
    fresh = fields.FlagField(
        default=False,
        help_text="Include the last messages that are in no episode yet: the conversation's own, "
        "or with the scope `user` those of each of his other conversations.",
    )
    explain = fields.FlagField(
        default=False, help_text="Show each memory's id and how it was found."
    )
    fence = FenceField()
    links = LinksField()
    whole = fields.FlagField(
        default=False,
        help_text=f"Show messages of over {SHOWN_AT_MOST:,} characters whole; else they are cut, "
        "and the text says so. Not with `max_tokens`, which leaves out what tells least.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("whole") and "max_tokens" in attrs:
            raise serializers.ValidationError({"whole": ["This does not go with max_tokens."]})
        if attrs.get("queries") and "max_tokens" not in attrs:
            raise serializers.ValidationError({"queries": ["This needs max_tokens."]})
        if attrs.get("preferences_only") and "category" in attrs:
            raise serializers.ValidationError({"category": ["Not with preferences_only."]})
        return super().validate(attrs)


class RetrieveInput(ContextInput):
    """The body of `retrieve_memory` and `retrieve_memory/raw`."""

    ignored = frozenset({GONE})

    preferences_only = None  # type: ignore[assignment]  # these calls answer with messages, too
    episodic_limit = fields.WholeNumberField(
        required=False,
        min_value=1,
        max_value=100,
        help_text=f"Episodes at most: {EPISODIC_LIMIT} when absent, or with `max_tokens` as many "
        "as the budget holds.",
    )
    detail = fields.WordField(
        choices=DETAILS,
        default="auto",
        help_text="Which episodes show their messages: auto (surprising ones ranked 1 or 2), none, "
        "low (a surprising one ranked 1), high (all).",
    )
    min_relevance = fields.NumberField(
        required=False,
        min_value=0,
        max_value=1,
        help_text="Answer with nothing where the relevance is below this. What `min_seq` includes "
        "is shown in any case; where the relevance is not known nothing is left out.",
    )


class RawMessage(serializers.Serializer[Any]):
    """A message in an episode."""

    role = serializers.CharField()
    content = serializers.CharField()


class RawFact(FactOutput):
    """A fact that answers."""

    score = serializers.FloatField()


class FullEpisode(EpisodeOutput):
    """An episode with its messages."""

    messages = RawMessage(many=True)


class RawEpisode(FullEpisode):
    """An episode that answers."""

    score = serializers.FloatField()


class Source(fields.Output):
    """A message behind a memory."""

    table, columns = MessageRow, "message_id seq role name? timestamp=said_at metadata"
    message_id = serializers.UUIDField(source="id")


class BlockOutput(serializers.Serializer[Any]):
    """A part of the packed text."""

    text = serializers.CharField()
    sources = Source(source="messages", many=True)


class RecentMessage(Source):
    """A message that no episode holds yet."""

    content = serializers.CharField()


class Legs(serializers.Serializer[Any]):
    """Number of memories found by BM25, and number found by vector."""

    lexical = serializers.IntegerField()
    vector = serializers.IntegerField()


class HowFound(fields.Output):
    """How a memory was found; a rank is null if that ranking did not return it."""

    table = Hit
    columns = "rank lexical_rank vector_rank rrf retrievability score terms"


class Explanation(serializers.Serializer[Any]):
    """How an answer was found."""

    legs = serializers.DictField(child=Legs())
    hits = serializers.DictField(child=HowFound())


class FenceOutput(fields.Output):
    """Marks to put around the text."""

    table, columns = Fence, "nonce opening closing"
    nonce = serializers.CharField()


class RawAnswer(serializers.Serializer[Any]):
    """The answer of `retrieve_memory/raw`."""

    semantic = RawFact(many=True)
    episodic = RawEpisode(many=True)
    sources = serializers.DictField(child=Source(many=True))
    blocks = BlockOutput(many=True, allow_null=True)
    cut = serializers.ListField(child=serializers.UUIDField())
    recent = RecentMessage(many=True, allow_null=True)
    explain = Explanation(allow_null=True)
    fence = FenceOutput(allow_null=True)
    relevance = serializers.FloatField(allow_null=True)
    receipt = serializers.UUIDField()
    indexed_through_seq = serializers.IntegerField()
    pending = serializers.IntegerField()
    degraded = serializers.CharField(allow_null=True)
    counter = serializers.CharField()
    corrections = serializers.DictField(child=serializers.CharField(), required=False)


class Answering(ReadView):
    """Runs a recall for the caller."""

    for_users = True
    kind: Retrieval.Kind
    memory_operations = {"POST": "search_memory"}

    def answer(self, form: type[fields.Strict]) -> tuple[Draft, Progress]:
        defaults = default_scope(self.tenant(), self.key())
        params = {"links": self.key().links, **self.read(form, context=defaults)}
        request = RecallRequest(kind=self.kind, **params)
        return recall.recall(self.reading(), request, now=timezone.now())


class RetrieveMemory(Answering):
    kind = Retrieval.Kind.RETRIEVE

    @describe("retrieve_memory", RetrieveInput, MARKDOWN)
    def post(self, request: Request) -> HttpResponse:
        return _as_markdown(*self.answer(RetrieveInput))


class RetrieveMemoryRaw(Answering):
    """Facts and episodes as JSON."""

    kind = Retrieval.Kind.RETRIEVE_RAW

    @describe("retrieve_memory_raw", RetrieveInput, RawAnswer)
    def post(self, request: Request) -> Response:
        draft, progress = self.answer(RetrieveInput)
        return _with_headers(Response(render_raw(draft, progress)), draft, progress)


class ContextPreRetrieve(Answering):
    kind = Retrieval.Kind.CONTEXT

    @describe("context_pre_retrieve", ContextInput, MARKDOWN)
    def post(self, request: Request) -> HttpResponse:
        return _as_markdown(*self.answer(ContextInput))


def _as_markdown(draft: Draft, progress: Progress) -> HttpResponse:
    return _with_headers(markdown_response(draft.text), draft, progress)


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
        fence=draft.fence.nonce,
    )


def render_raw(draft: Draft, progress: Progress) -> dict[str, Any]:
    """Return an answer as JSON, facts and episodes each best first."""
    chosen, receipt = draft.chosen, draft.receipt
    params = receipt.parameters
    blocks = [
        {"text": block.text, "sources": [_render_source(row) for row in block.messages]}
        for block in chosen.blocks
    ]
    recent = [
        {**_render_source(row), "content": row.content}
        for row in (chosen.recent.messages if chosen.recent else ())
    ]
    corrections = chosen.list_corrections(params["links"])
    return {
        "semantic": [_render_fact(hit) for hit in chosen.facts],
        "episodic": [{**render_episode(hit), "score": hit.found.score} for hit in chosen.episodes],
        "sources": {
            str(hit.found.memory_id): [_render_source(row) for row in hit.messages]
            for hit in chosen.hits
        },
        "blocks": None if params["max_tokens"] is None else blocks,
        "cut": list(chosen.cut),
        "recent": recent if recent or params["min_seq"] or params["fresh"] else None,
        "explain": _explain(draft) if params["explain"] else None,
        "fence": FenceOutput(draft.fence).data if draft.fence.nonce else None,
        "relevance": receipt.relevance,
        "receipt": str(receipt.id),
        "indexed_through_seq": progress.indexed_through_seq,
        "pending": progress.pending,
        "degraded": receipt.degraded or None,
        "counter": tokens.in_use().name,
        **({"corrections": corrections} if corrections else {}),
    }


def _render_fact(hit: FactHit) -> dict[str, Any]:
    """Return the values of a `RawFact`; without a serializer, as there are hundreds of rows."""
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


def render_episode(hit: EpisodeHit) -> dict[str, Any]:
    """Return the values of a `RawEpisode`, without its score."""
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
    """Return the values of a `Source`."""
    return {
        "message_id": str(row.id),
        "seq": row.seq,
        "role": row.role,
        "name": row.name or None,
        "timestamp": say_moment(row.said_at),
        "metadata": row.metadata,
    }


def _explain(draft: Draft) -> dict[str, Any]:
    """Return counts per ranking, and how each memory was found, by memory id."""
    hits = {str(hit.memory_id): HowFound(hit).data for hit in draft.served}
    return {"legs": draft.receipt.counts, "hits": hits}
