"""Searching all that a tenant has."""

from __future__ import annotations

from typing import Any

from django.db import InterfaceError, OperationalError
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request as HttpRequest
from rest_framework.response import Response

from memoryproject.cleaning import clean_alone
from memoryproject.fields import (
    ContentField,
    IdField,
    MomentField,
    NumberField,
    Strict,
    TextField,
    WholeNumberField,
    WordField,
    say_moment,
)
from memoryproject.tenancy.models import Scope
from memoryproject.views import KeyedView
from notes.forms import ID_AT_MOST, VALENCES, WORD_AT_MOST
from notes.kinds import LINK_TYPES
from retrieval import examples, mirror, mirror_findings, searching
from retrieval.finding import ORDERS, SOURCE_TYPES, Hop, Request
from retrieval.forms import ASKED_IN, DEGRADED, RECEIPT_OR_NULL
from retrieval.searching import Item, Result

RESULTS = 10
RESULTS_AT_MOST = 100
SOURCE_IDS_AT_MOST = 100
HOPS_AT_MOST = 3


class Several(serializers.ListField):
    """Some words of a list, at least one."""

    def __init__(self, choices: list[str], **options: Any) -> None:
        child = WordField(choices=choices)
        super().__init__(
            child=child, required=False, allow_empty=False, max_length=len(choices), **options
        )


class SearchInput(Strict):
    """The body of `POST search`. All filters must hold; absent ones do not narrow."""

    query = ContentField(help_text="What to look for, in words; * for everything.")
    source_types = Several(
        choices=list(SOURCE_TYPES), help_text="Types of notes, `episode`, `fact`."
    )
    source_ids = serializers.ListField(
        child=TextField(max_length=ID_AT_MOST),
        required=False,
        allow_empty=False,
        max_length=SOURCE_IDS_AT_MOST,
        help_text="A note's own; of a fact or an episode the id of its conversation.",
    )
    conversation_id = IdField(required=False)
    user_id = TextField(
        max_length=ID_AT_MOST, required=False, help_text="Of notes; leaves out all else."
    )
    category = TextField(
        max_length=WORD_AT_MOST,
        required=False,
        help_text="Of notes and facts; leaves episodes out.",
    )
    min_importance = NumberField(
        required=False,
        min_value=0,
        max_value=1,
        help_text="A note's own; an episode's surprise; of a fact 0.5, and 0.1 more for each "
        "further episode that supports it, up to 0.9.",
    )
    emotion_valence = WordField(
        choices=VALENCES, required=False, help_text="Of notes; leaves out all else."
    )
    since = MomentField(
        required=False,
        help_text="Included. When it was so: of a note occurred_at, of a thread its last "
        "activity, of a fact from when on it is true, of an episode its end.",
    )
    until = MomentField(required=False, help_text="Included.")
    min_relevance = NumberField(default=0.0, min_value=0, max_value=1)
    max_results = WholeNumberField(default=RESULTS, min_value=1, max_value=RESULTS_AT_MOST)
    max_tokens = WholeNumberField(
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text="The whole texts of all items together stay within it.",
    )
    sort_by = WordField(choices=ORDERS, default=ORDERS[0])
    max_hops = WholeNumberField(
        default=0,
        min_value=0,
        max_value=HOPS_AT_MOST,
        help_text="Links to follow from what is found.",
    )
    link_types = Several(choices=list(LINK_TYPES), help_text="Of hops; default: all.")
    asked_in = IdField(required=False, help_text=ASKED_IN)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "since" in attrs and "until" in attrs and attrs["until"] < attrs["since"]:
            raise serializers.ValidationError({"until": ["This lies before since."]})
        return attrs


class SearchItem(serializers.Serializer[Any]):
    """A memory that answers."""

    id = serializers.UUIDField()
    source_type = serializers.ChoiceField(choices=list(SOURCE_TYPES))
    source_id = serializers.CharField(
        allow_null=True, help_text="A note's own; else the id of the conversation."
    )
    label = serializers.CharField()  # type: ignore[assignment]
    relevance = serializers.FloatField(
        help_text="0 to 1, comparable between searches: the larger of how much of the query's "
        "words it holds and how near it is in meaning. With `*` 0.5; through links 0.5, halved "
        "by each further link."
    )
    importance = serializers.FloatField(help_text="0 to 1.")
    combined_score = serializers.FloatField(help_text="0.7 relevance + 0.3 importance.")
    token_estimate = serializers.IntegerField(help_text="Of its whole text.")
    snippet = serializers.CharField()
    occurred_at = serializers.DateTimeField(help_text="When it was so: recency goes by this.")
    hops = serializers.IntegerField(help_text="Links that led here; 0: the query found it.")
    metadata = serializers.DictField()


class HopPath(serializers.Serializer[Any]):
    """A link that was followed, from the nearer memory to the farther one."""

    to = serializers.UUIDField()
    link_type = serializers.ChoiceField(choices=LINK_TYPES)

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; `from` is a word of Python's own."""
        return {"from": serializers.UUIDField(), **super().get_fields()}


class SearchOutput(serializers.Serializer[Any]):
    """The answer of `search`."""

    items = SearchItem(many=True)
    total_count = serializers.IntegerField(help_text="Memories that match, returned or not.")
    tokens_used = serializers.IntegerField(help_text="The items' estimates together.")
    counter = serializers.CharField(help_text="How tokens are counted.")
    query = serializers.DictField(help_text="Every parameter as it was applied.")
    hops_used = serializers.IntegerField(help_text="Steps after which links led to nothing new.")
    hop_paths = HopPath(many=True, help_text="The links on the way to items, nearest first.")
    receipt = serializers.UUIDField(allow_null=True, help_text=RECEIPT_OR_NULL)
    degraded = serializers.CharField(allow_null=True, help_text=DEGRADED)


class Search(KeyedView):
    """Facts, episodes and notes of the whole tenant, in one order."""

    scope = Scope.READ

    @extend_schema(
        operation_id="search",
        examples=examples.SEARCH,
        request=SearchInput,
        responses=SearchOutput,
        description="Searches facts that are held, episodes and notes of all conversations and of "
        "none, by words and by meaning. Nothing is reviewed afterwards. With `max_hops` the links "
        "of what is found are followed both ways; what they lead to must pass the filters, too. "
        "Then peek at an item (`memories/{id}`), read it within a limit (`memories/{id}/chunk`), "
        "or put a prompt together (`contexts`).",
    )
    def post(self, request: HttpRequest) -> Response:
        given = self.read(SearchInput)
        max_tokens = given.pop("max_tokens", None)
        result = self.answer(Request(**given), max_tokens)
        response = Response(render_result(result))
        if result.receipt is not None:
            response["Memory-Receipt"] = str(result.receipt.id)
        if result.findings.degraded:
            response["Memory-Degraded"] = result.findings.degraded
        return response

    def answer(self, asked: Request, max_tokens: int | None) -> Result:
        """Return the answer: from the mirror, if there is one, while the database is away."""
        tenant = self.tenant()
        try:
            return searching.search(
                tenant=tenant, asked_by=self.key(), request=asked, max_tokens=max_tokens
            )
        except (OperationalError, InterfaceError):
            if not self.answers_without_database():
                raise
        return mirror_findings.search(tenant=tenant, request=asked, max_tokens=max_tokens)

    def answers_without_database(self) -> bool:
        """Return whether memories are mirrored."""
        return mirror.is_on()


def render_result(result: Result) -> dict[str, Any]:
    """Return an answered search as JSON."""
    served = [item.finding.memory_id for item in result.items]
    return {
        "items": [_render_item(item) for item in result.items],
        "total_count": result.findings.total,
        "tokens_used": result.tokens_used,
        "counter": result.counter,
        "query": result.applied,
        "hops_used": result.findings.hops_used,
        "hop_paths": [_render_hop(hop) for hop in result.findings.hops_to(served)],
        "receipt": str(result.receipt.id) if result.receipt else None,
        "degraded": result.findings.degraded or None,
    }


def _render_item(item: Item) -> dict[str, Any]:
    return {
        "id": str(item.finding.memory_id),
        "source_type": item.finding.source_type,
        "source_id": item.content.source_id or None,
        "label": clean_alone(item.content.label),
        "relevance": item.finding.relevance,
        "importance": item.finding.importance,
        "combined_score": item.finding.combined,
        "token_estimate": item.token_estimate,
        "snippet": item.snippet,
        "occurred_at": say_moment(item.finding.at),
        "hops": item.finding.depth,
        "metadata": item.content.metadata,
    }


def _render_hop(hop: Hop) -> dict[str, Any]:
    return {"from": str(hop.from_id), "to": str(hop.to_id), "link_type": hop.link_type}
