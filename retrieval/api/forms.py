"""What the retrieve calls take and give, as the API describes it."""

from typing import Any, TypeVar

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers

from episodic.read_api import EpisodeOutput, OwnerOutput
from memoryproject.edge import fields
from memoryproject.text.cleaning import LINK_STYLES
from retrieval.hits import Hit, MessageRow
from retrieval.markdown import SHOWN_AT_MOST, Fence
from retrieval.search import scores
from retrieval.search.in_conversation import (
    CONVERSATION,
    EPISODIC_LIMIT,
    SCOPES,
    SEMANTIC_LIMIT,
    USER,
)
from semantic.renderings import CATEGORIES, FactOutput

AnyResponse = TypeVar("AnyResponse", bound=HttpResponse)
MARKDOWN = {(200, "text/markdown"): OpenApiTypes.STR}
DETAILS = ["auto", "none", "low", "high"]
RECENT_LIMIT = 10
DAYS_AT_MOST = 36_500


class BudgetField(fields.WholeNumberField):
    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": 1, "max_value": 1_000_000, **options})


class LinksField(fields.WordField):
    """How a text for a prompt prints links."""

    def __init__(self) -> None:
        super().__init__(choices=LINK_STYLES, required=False)


class FusionInput(fields.Strict):
    """Numbers of the formula that orders memories; absent ones are the tenant's."""

    k = fields.WholeNumberField(required=False, min_value=0, max_value=scores.K_AT_MOST)
    depth = fields.WholeNumberField(required=False, min_value=1, max_value=scores.DEPTH_AT_MOST)
    lexical_weight = fields.NumberField(
        required=False, min_value=0, max_value=scores.WEIGHT_AT_MOST
    )
    vector_weight = fields.NumberField(required=False, min_value=0, max_value=scores.WEIGHT_AT_MOST)
    floor = fields.NumberField(required=False, min_value=0, max_value=1)


class ContextInput(fields.Strict):
    """The body of `context_pre_retrieve`."""

    ignored = frozenset({"episodic_limit", "detail"})

    query = fields.ContentField()
    conversation_id = fields.IdField()
    scope = fields.WordField(choices=SCOPES, default=CONVERSATION)
    user_id = fields.NameField()
    semantic_limit = fields.WholeNumberField(default=SEMANTIC_LIMIT, min_value=1, max_value=200)
    category = fields.WordField(choices=CATEGORIES, required=False)
    max_tokens = BudgetField(required=False)
    as_of = fields.AskedMomentField(required=False)
    known_at = fields.AskedMomentField(required=False)
    min_seq = fields.WholeNumberField(required=False, min_value=1)
    explain = fields.FlagField(default=False)
    fence = fields.FlagField(default=False)
    fusion = FusionInput(required=False)
    links = LinksField()
    whole = fields.FlagField(
        default=False,
        help_text=f"Show messages of over {SHOWN_AT_MOST:,} characters whole; else they are cut, "
        "and the text says so. Not with `max_tokens`, which leaves out what tells least.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["whole"] and "max_tokens" in attrs:
            raise serializers.ValidationError({"whole": ["This does not go with max_tokens."]})
        if attrs["scope"] != USER and "user_id" in attrs:
            raise serializers.ValidationError({"user_id": ["This needs the scope user."]})
        for name in {"as_of", "known_at", "min_relevance"} & set(attrs):
            if attrs["scope"] != CONVERSATION:
                raise serializers.ValidationError({name: ["This needs the scope conversation."]})
        return attrs


class RetrieveInput(ContextInput):
    """The body of `retrieve_memory` and `retrieve_memory/raw`."""

    ignored = frozenset()

    episodic_limit = fields.WholeNumberField(
        required=False,
        min_value=1,
        max_value=100,
        help_text=f"Episodes at most: {EPISODIC_LIMIT} when absent, or with `max_tokens` as many "
        "as the budget holds.",
    )
    detail = fields.WordField(choices=DETAILS, default="auto")
    min_relevance = fields.NumberField(required=False, min_value=0, max_value=1)


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

    table, columns = MessageRow, "message_id seq role name? timestamp=occurred_at metadata"
    message_id = serializers.UUIDField(source="id")


class BlockOutput(serializers.Serializer[Any]):
    """A part of the packed text."""

    text = serializers.CharField()
    sources = Source(source="messages", many=True)


class RecentMessage(Source):
    """A message that no episode holds yet."""

    content = serializers.CharField()


class Legs(serializers.Serializer[Any]):
    """How many memories were found by BM25, and how many by vector."""

    lexical = serializers.IntegerField()
    vector = serializers.IntegerField()


class HowFound(fields.Output):
    """How a memory got into the answer; a rank is null where that ranking did not have it."""

    table = Hit
    columns = "rank lexical_rank vector_rank rrf retrievability score terms"


class Explanation(serializers.Serializer[Any]):
    """How an answer came about."""

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


class RecentInput(fields.Strict):
    """The body of `recent_memory/raw`."""

    conversation_id = fields.IdField()
    days_limit = fields.WholeNumberField(required=False, min_value=1, max_value=DAYS_AT_MOST)
    limit = fields.WholeNumberField(default=RECENT_LIMIT, min_value=1, max_value=100)


class RecentTextInput(RecentInput):
    """The body of `recent_memory`."""

    fence = fields.FlagField(default=False)
    links = LinksField()


class ConversationOutput(OwnerOutput):
    """Whose a conversation is, and how far it is processed."""

    id = serializers.UUIDField()
    messages = serializers.IntegerField()
    pending = serializers.IntegerField()
    episodes = serializers.IntegerField()
    facts = serializers.IntegerField()
    open_jobs = serializers.IntegerField()
    set_aside = serializers.IntegerField()
    waits_for = serializers.ListField(child=serializers.CharField())
    indexed_through_seq = serializers.IntegerField()


def markdown_response(text: str) -> HttpResponse:
    """Return markdown; an empty text is an empty body."""
    return HttpResponse(text, content_type="text/markdown; charset=utf-8")


def set_headers(response: AnyResponse, **headers: object) -> AnyResponse:
    """Return the response with headers of ours, `receipt` as `Memory-Receipt`; none for nothing."""
    for name, value in headers.items():
        if value not in (None, ""):
            response[f"Memory-{name.replace('_', '-').title()}"] = str(value)
    return response
