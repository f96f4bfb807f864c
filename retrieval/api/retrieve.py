"""The calls `retrieve_memory`, which answers with markdown or JSON, and `context_pre_retrieve`."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema_serializer
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
from memoryproject.text.cleaning import DEFANGED, PLAIN
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

HEADERS = (
    "receipt indexed_through pending token_counter degraded fence cut relevance read_from read_age"
)
DETAILS = ["auto", "none", "low", "high"]
STYLES: dict[str, dict[str, Any]] = {
    "fenced": {"fence": True},
    "plain": {"links": PLAIN},
    "defanged": {"links": DEFANGED},
    "whole": {"whole": True},
}
"""Words of `style`, and the options that each sets."""
GONE = "fusion"
"""Field of versions up to 0.2, now ignored: numbers for the formula, of little effect."""


@extend_schema_serializer(deprecate_fields=["fence", "whole"])  # `ask` keeps `links`
class ContextInput(ScopedInput):
    """The body of `context_pre_retrieve`."""

    ignored = frozenset({"episodic_limit", "detail", GONE})

    query = fields.ContentField(QUERY)
    queries = serializers.ListField(
        child=fields.ContentField(),
        required=False,
        max_length=QUERIES_AT_MOST,
        help_text="Further questions, whose answers share the budget: one for each step of a "
        "question of several steps finds more than all in one. Only with `max_tokens`.",
    )
    semantic_limit = fields.WholeNumberField(
        "Largest number of facts.", default=SEMANTIC_LIMIT, min_value=1, max_value=200
    )
    category = fields.WordField("Only facts of this category.", choices=CATEGORIES, required=False)
    preferences_only = fields.FlagField(
        "Preferences, guidelines and dangers alone: what holds whatever an agent works at, such "
        "as a coding agent in another project of its user. Not with `category`.",
        default=False,
    )
    max_tokens = BudgetField(
        "Pack the most useful text into this budget, never over it.", required=False
    )
    as_of = fields.AskedMomentField(
        "Answer with what was true then. ISO 8601, UTC without an offset, or ms since 1970; "
        "absent: with what is believed now.",
        required=False,
    )
    known_at = KnownAtField()
    min_seq = fields.WholeNumberField(
        "Include what was said up to this message, in an episode or not.",
        required=False,
        min_value=1,
    )
    fresh = fields.FlagField(
        "Include the last messages that are in no episode yet: the conversation's own, or with "
        "the scope `user` those of each of his other conversations.",
        default=False,
    )
    explain = fields.FlagField("Show each memory's id and how it was found.", default=False)
    style = serializers.ListField(  # type: ignore[assignment]  # of pages, which have none
        child=fields.WordField(choices=list(STYLES)),
        required=False,
        help_text="How a text for a prompt is printed. `fenced`: between two marks with a random "
        "word, which say that it is data and no instruction; the answer names the word, and the "
        "marks count. `defanged`: links, addresses and HTML so that nothing follows or loads them; "
        "`plain`: as they were said; default: as the key says, and keys that say nothing defang "
        f"them. `whole`: also messages of over {SHOWN_AT_MOST:,} characters; else these are cut, "
        "and the text says so. Not with `max_tokens`, which leaves out what tells least.",
    )
    fence = FenceField()
    links = LinksField()
    whole = fields.FlagField("Say `whole` in `style`.", default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        style = attrs.pop("style", ())
        if {"plain", "defanged"} <= set(style):
            raise serializers.ValidationError({"style": ["Links are either plain or defanged."]})
        for word in style:
            attrs |= STYLES[word]
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
        f"Episodes at most: {EPISODIC_LIMIT} when absent, or with `max_tokens` as many "
        "as the budget holds.",
        required=False,
        min_value=1,
        max_value=100,
    )
    detail = fields.WordField(
        "Which episodes show their messages: auto (surprising ones ranked 1 or 2), none, low (a "
        "surprising one ranked 1), high (all).",
        choices=DETAILS,
        default="auto",
    )
    min_relevance = fields.NumberField(
        "Answer with nothing where the relevance is below this. What `min_seq` includes is shown "
        "in any case; where the relevance is not known nothing is left out.",
        required=False,
        min_value=0,
        max_value=1,
    )


class RawMessage(serializers.Serializer[Any]):
    """A message in an episode."""

    role = serializers.CharField(help_text="Who speaks: user, assistant, system or tool.")
    content = serializers.CharField(help_text="What was said, as it was posted.")


class RawFact(FactOutput):
    """A fact that answers."""

    score = serializers.FloatField(
        help_text="What it is ordered by: the reciprocal ranks of both rankings added up; 0.033 "
        "at most."
    )


class FullEpisode(EpisodeOutput):
    """An episode with its messages."""

    messages = RawMessage(many=True, help_text="All messages of the episode, oldest first.")


class RawEpisode(FullEpisode):
    """An episode that answers."""

    score = serializers.FloatField(
        help_text="What it is ordered by: the reciprocal ranks of both rankings added up, times "
        "retrievability; 0.033 at most."
    )


class Source(fields.Output):
    """A message behind a memory."""

    table = MessageRow
    message_id = serializers.UUIDField(source="id", help_text="The id of a message.")
    seq = fields.Column(
        "Its place in the conversation: 1, 2, 3, …; only what was erased leaves a gap."
    )
    role = fields.Column("Who speaks: user, assistant, system or tool.")
    name = fields.Column("The speaker's name; null: none was given.", allow_null=True)
    timestamp = fields.Column("When it was said, by the agent's clock.", "said_at")
    metadata = fields.Column("What the agent gave with the message, unchanged.")


class BlockOutput(serializers.Serializer[Any]):
    """A part of the packed text."""

    text = serializers.CharField(help_text="Markdown: all facts, or one day of one episode.")
    sources = Source(
        source="messages", many=True, help_text="The messages that it shows, or that say its facts."
    )


class RecentMessage(Source):
    """A message that no episode holds yet."""

    content = serializers.CharField(help_text="What was said, as it was posted.")


class Legs(serializers.Serializer[Any]):
    """Number of memories found by BM25, and number found by vector."""

    lexical = serializers.IntegerField(help_text="How many the keyword ranking (BM25) found.")
    vector = serializers.IntegerField(help_text="How many the semantic ranking found.")


class HowFound(fields.Output):
    """How a memory was found; a rank is null if that ranking did not return it."""

    table = Hit
    rank = fields.Column("1 is best: counted by kind of memory, in a search over all kinds.")
    lexical_rank = fields.Column("Its rank by keywords, 1 is best; null: not among them.")
    vector_rank = fields.Column("Its semantic rank, 1 is best; null: not among them.")
    rrf = fields.Column("The reciprocal ranks of both rankings, added up.")
    retrievability = fields.Column(
        "The chance that the episode is still remembered, from 0 to 1; of a fact 1."
    )
    score = fields.Column("What it is ordered by; of a search the relevance.")
    terms = fields.Column("Stems of the query that it holds.")


class Explanation(serializers.Serializer[Any]):
    """How an answer was found."""

    legs = serializers.DictField(child=Legs(), help_text="By kind of memory.")
    hits = serializers.DictField(child=HowFound(), help_text="By memory id.")


class FenceOutput(fields.Output):
    """Marks to put around the text."""

    table = Fence
    nonce = serializers.CharField(help_text="The random word in both.")
    opening = fields.Column("The mark before the text.")
    closing = fields.Column("The mark behind the text.")


class RawAnswer(serializers.Serializer[Any]):
    """The answer of `retrieve_memory/raw`."""

    semantic = RawFact(many=True, help_text="The facts, best first.")
    episodic = RawEpisode(many=True, help_text="The episodes, best first.")
    sources = serializers.DictField(
        child=Source(many=True),
        help_text="By memory id: the messages that say a fact; an episode's `messages`, in order.",
    )
    blocks = BlockOutput(
        many=True,
        allow_null=True,
        help_text="With `max_tokens`: the text that fits, in parts, as it goes into a prompt: "
        "facts, then episodes, that of the best message first. Else null.",
    )
    cut = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="Messages of which the text shows a part; `messages/{id}` has each whole.",
    )
    recent = RecentMessage(
        many=True,
        allow_null=True,
        help_text="With `min_seq`: messages in no episode yet, oldest first. Else null.",
    )
    explain = Explanation(allow_null=True, help_text="With `explain`, else null.")
    fence = FenceOutput(
        allow_null=True,
        help_text="With `fenced` in `style`: marks for before the first block and behind the "
        "last, which `max_tokens` has room for. Else null.",
    )
    relevance = serializers.FloatField(
        allow_null=True,
        help_text="How likely it is that the answer holds what was asked for, 0 to 1; null: not "
        "known, as with another scope than conversation, or where only words were searched.",
    )
    receipt = serializers.UUIDField(help_text="Names this answer in audits.")
    indexed_through_seq = serializers.IntegerField(
        help_text="All messages up to this `seq` are in episodes."
    )
    pending = serializers.IntegerField(help_text="Messages that no episode holds yet.")
    degraded = serializers.CharField(
        allow_null=True,
        help_text="no_vectors: only words were searched; old_vectors: the embedding model has "
        "changed, and older memories were found by keyword alone; null: nothing missing.",
    )
    counter = serializers.CharField(help_text="How `max_tokens` was counted.")
    corrections = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="By id of a fact, episode or message that contradicts a correction: what is "
        "right. Absent where nothing does.",
    )


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

    @describe(
        "retrieve_memory",
        RetrieveInput,
        MARKDOWN,
        headers=f"{HEADERS} empty",
    )
    def post(self, request: Request) -> HttpResponse:
        """Get facts and episodes that answer a query, as markdown.

        Searches facts and episodes of a conversation, of all conversations of a user, or of the
        tenant, and returns markdown; an empty body where nothing matches. Served episodes are
        reviewed later by how they were used.
        200: Markdown for a prompt; an empty body where nothing matches.
        """
        return _as_markdown(*self.answer(RetrieveInput))


class RetrieveMemoryRaw(Answering):
    kind = Retrieval.Kind.RETRIEVE_RAW

    @describe(
        "retrieve_memory_raw",
        RetrieveInput,
        RawAnswer,
        headers=f"{HEADERS} empty",
    )
    def post(self, request: Request) -> Response:
        """Get facts and episodes that answer a query, as JSON.

        200: Facts and episodes, each best first; empty lists where nothing matches.
        """
        draft, progress = self.answer(RetrieveInput)
        return _with_headers(Response(render_raw(draft, progress)), draft, progress)


class ContextPreRetrieve(Answering):
    kind = Retrieval.Kind.CONTEXT

    @describe(
        "context_pre_retrieve",
        ContextInput,
        MARKDOWN,
        headers=HEADERS,
    )
    def post(self, request: Request) -> HttpResponse:
        """Get facts alone, for a system prompt.

        Searches facts only. Nothing is reviewed afterwards. The fields `episodic_limit` and
        `detail` are passed over.
        200: Markdown for a system prompt; an empty body where nothing matches.
        """
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
