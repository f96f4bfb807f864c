"""The calls `memories/{id}`: peek at one memory, and read a chunk of it."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from indexing.models import MemoryKind
from memoryproject.edge.fields import FlagField, Strict, TextOrNull, WordField
from memoryproject.tenancy.views import ReadView
from memoryproject.text.cleaning import print_links
from retrieval import budget, reading
from retrieval.api.forms import FENCE, BudgetField, LinksField, NonceField
from retrieval.truncation import Strategy

STRATEGIES = [strategy.value for strategy in Strategy]


class ChunkInput(Strict):
    """The body of `memories/{id}/chunk`."""

    max_tokens = BudgetField(help_text="Of the answer's content, header included.")
    truncation_strategy = WordField(
        source="strategy",
        choices=STRATEGIES,
        default=Strategy.END.value,
        help_text="end: the beginning is kept; sentence: its whole sentences; middle: both ends.",
    )
    include_header = FlagField(
        default=False, help_text="Put a line before it that says what it is: `[note: …]`."
    )
    fence = FlagField(default=False, help_text=FENCE)
    links = LinksField()


class Location(serializers.Serializer[Any]):
    """Where in a stored text of yours it stands."""

    span_id = serializers.CharField()
    start_byte = serializers.IntegerField()
    end_byte = serializers.IntegerField(help_text="Excluded.")


class PeekOutput(serializers.Serializer[Any]):
    """What is known about a memory, without its text."""

    id = serializers.UUIDField(source="memory.id")
    kind = serializers.ChoiceField(choices=MemoryKind.choices, source="memory.kind.value")
    source_type = serializers.CharField(
        source="memory.source_type", help_text="A note's source type, else episode or fact."
    )
    source_id = TextOrNull(
        source="memory.source_id", help_text="A note's own, else the id of the conversation."
    )
    label = serializers.CharField()  # type: ignore[assignment]
    description = TextOrNull()
    metadata = serializers.DictField(source="memory.metadata")
    related_ids = serializers.ListField(
        child=serializers.UUIDField(), help_text="Linked memories, both ways, newest first."
    )
    related_cut = serializers.BooleanField(
        help_text="There are more: `memories/{id}/links` lists all."
    )
    token_estimate = serializers.IntegerField(
        help_text="Of the whole content without a header: the sum of its parts, which were counted "
        "when they were written."
    )
    location = Location(source="memory.span", allow_null=True)
    counter = serializers.CharField(help_text="How tokens were counted.")


class ChunkOutput(serializers.Serializer[Any]):
    """A memory's content within the limit."""

    id = serializers.UUIDField(source="memory_id")
    content = serializers.CharField(help_text="Header included; empty where nothing fits.")
    token_count = serializers.IntegerField(help_text="Of the content; never above max_tokens.")
    truncated = serializers.BooleanField(
        help_text="Something is missing, of the text or, where it leaves no room, the header."
    )
    header = serializers.CharField(allow_null=True, help_text="The text's first line, if any.")
    counter = serializers.CharField(help_text="How tokens were counted.")
    fence = NonceField()


class OneMemory(ReadView):
    """What a memory is."""

    for_users = True

    @extend_schema(
        operation_id="peek_memory",
        responses=PeekOutput,
        description="What is known about an episode, a fact or a note, without its content: to "
        "decide whether its tokens are worth it.",
    )
    def get(self, request: Request, memory_id: uuid.UUID) -> Response:
        with print_links(self.key().links):
            peek = reading.peek(tenant=self.tenant(), memory_id=memory_id)
            return Response(PeekOutput(peek).data)


class MemoryChunk(ReadView):
    """What a memory says."""

    for_users = True

    @extend_schema(
        operation_id="chunk_memory",
        request=ChunkInput,
        responses=ChunkOutput,
        description="The content of a memory within a limit: a note's text; an episode's title, "
        "summary and messages; a fact with when it was true and the messages that say it. What is "
        "cut is marked with `…`, and the mark counts.",
    )
    def post(self, request: Request, memory_id: uuid.UUID) -> Response:
        params = self.read(ChunkInput)
        params["strategy"] = Strategy(params["strategy"])
        params["fence"] = budget.make_fence(wanted=params["fence"])
        with print_links(params.pop("links", self.key().links)):
            chunk = reading.chunk(tenant=self.tenant(), memory_id=memory_id, **params)
        return Response(ChunkOutput(chunk).data)
