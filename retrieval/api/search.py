"""The call `search`: facts, episodes and notes of a whole tenant."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge import fields
from notes.forms import ID_AT_MOST, WORD_AT_MOST
from notes.kinds import LINK_TYPES
from retrieval.api.answers import MirroredView, NarrowedInput
from retrieval.api.forms import DEGRADED, KNOWN_AT, RECEIPT_OR_NULL, BudgetField
from retrieval.search import results
from retrieval.search.in_tenant import ORDERS, SOURCE_TYPES, SearchRequest

RESULTS = 10
RESULTS_AT_MOST = 100
SOURCE_IDS_AT_MOST = 100
HOPS_AT_MOST = 3


class Several(serializers.ListField):
    """Some words of a list, at least one."""

    def __init__(self, choices: list[str], **options: Any) -> None:
        child = fields.WordField(choices=choices)
        super().__init__(
            child=child, required=False, allow_empty=False, max_length=len(choices), **options
        )


class SearchInput(NarrowedInput):
    """The body of `POST search`. Absent filters do not narrow."""

    query = fields.ContentField(help_text="What to look for, in words; * for everything.")
    source_types = Several(
        choices=list(SOURCE_TYPES), help_text="Types of notes, `episode`, `fact`."
    )
    source_ids = serializers.ListField(
        child=fields.TextField(max_length=ID_AT_MOST),
        required=False,
        allow_empty=False,
        max_length=SOURCE_IDS_AT_MOST,
        help_text="A note's own; of a fact or an episode the id of its conversation.",
    )
    tag = fields.TextField(
        max_length=WORD_AT_MOST,
        required=False,
        help_text="One of a note's tags; leaves out all else.",
    )
    since = fields.AskedMomentField(
        required=False,
        help_text="Included; UTC without an offset. When it was so: of a note occurred_at, of a "
        "thread its last activity, of a fact from when on it is true, of an episode its end.",
    )
    as_of = fields.AskedMomentField(
        required=False,
        help_text="Search what was true then, retired facts too, and what had been said and noted. "
        "UTC without an offset.",
    )
    known_at = fields.AskedMomentField(required=False, help_text=KNOWN_AT)
    min_relevance = fields.NumberField(default=0.0, min_value=0, max_value=1)
    max_results = fields.WholeNumberField(default=RESULTS, min_value=1, max_value=RESULTS_AT_MOST)
    max_tokens = BudgetField(
        required=False, help_text="The whole texts of all items together stay within it."
    )
    sort_by = fields.WordField(choices=ORDERS, default=ORDERS[0])
    max_hops = fields.WholeNumberField(
        default=0,
        min_value=0,
        max_value=HOPS_AT_MOST,
        help_text="Links to follow from what is found.",
    )
    link_types = Several(choices=list(LINK_TYPES), help_text="Of hops; default: all.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "since" in attrs and "until" in attrs and attrs["until"] < attrs["since"]:
            raise serializers.ValidationError({"until": ["This lies before since."]})
        return attrs


class SearchItem(serializers.Serializer[Any]):
    """A memory that answers."""

    id = serializers.UUIDField(source="finding.memory_id")
    source_type = serializers.ChoiceField(choices=list(SOURCE_TYPES), source="finding.source_type")
    source_id = fields.TextOrNull(
        source="memory.source_id", help_text="A note's own; else the id of the conversation."
    )
    label = serializers.CharField()  # type: ignore[assignment]
    relevance = serializers.FloatField(
        source="finding.score",
        help_text="0 to 1, comparable between searches: the larger of how much of the query's "
        "words it holds and how near it is in meaning. With `*` 0.5; through links 0.5, halved "
        "by each further link.",
    )
    importance = serializers.FloatField(source="finding.importance", help_text="0 to 1.")
    combined_score = serializers.FloatField(
        source="finding.combined", help_text="0.7 relevance + 0.3 importance."
    )
    token_estimate = serializers.IntegerField(help_text="Of its whole text.")
    snippet = serializers.CharField()
    occurred_at = serializers.DateTimeField(
        source="finding.at", help_text="When it was so: recency goes by this."
    )
    hops = serializers.IntegerField(
        source="finding.depth", help_text="Links that led here; 0: the query found it."
    )
    metadata = serializers.DictField(source="memory.metadata")


class HopPath(serializers.Serializer[Any]):
    """A link that was followed, from the nearer memory to the farther one."""

    to = serializers.UUIDField(source="id")
    link_type = serializers.ChoiceField(choices=LINK_TYPES)

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; `from` is a word of Python's own."""
        return {"from": serializers.UUIDField(source="via"), **super().get_fields()}


class SearchOutput(serializers.Serializer[Any]):
    """The answer of `search`."""

    items = SearchItem(many=True)
    total_count = serializers.IntegerField(
        source="findings.total", help_text="Memories that match, returned or not."
    )
    tokens_used = serializers.IntegerField(help_text="The items' estimates together.")
    counter = serializers.CharField(help_text="How tokens are counted.")
    query = serializers.DictField(source="applied", help_text="Every parameter as it was applied.")
    hops_used = serializers.IntegerField(
        source="findings.hops_used", help_text="Steps after which links led to nothing new."
    )
    hop_paths = HopPath(many=True, help_text="The links on the way to items, nearest first.")
    receipt = serializers.UUIDField(source="receipt.id", allow_null=True, help_text=RECEIPT_OR_NULL)
    degraded = fields.TextOrNull(source="findings.degraded", help_text=DEGRADED)


class Search(MirroredView):
    """Facts, episodes and notes of the whole tenant, in one order."""

    for_users = True
    memory_operations = {"POST": "search_memory"}

    @extend_schema(
        operation_id="search",
        request=SearchInput,
        responses=SearchOutput,
        description="Searches active facts, episodes and notes of all conversations and of none, "
        "by keyword and semantic rank. Nothing is reviewed afterwards. With `max_hops` the links "
        "of what is found are followed both ways; what they lead to must pass the filters, too. "
        "Then peek at an item (`memories/{id}`), read it within a limit (`memories/{id}/chunk`), "
        "or put a prompt together (`contexts`).",
    )
    def post(self, request: Request) -> Response:
        params = SearchRequest(**{"links": self.key().links, **self.read(SearchInput)})
        return self.answer(
            SearchOutput,
            lambda: results.search(tenant=self.tenant(), asked_by=self.key(), request=params),
            lambda: results.search_mirror(tenant=self.tenant(), request=params),
            links=params.links,
        )
