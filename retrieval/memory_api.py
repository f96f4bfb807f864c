"""Looking at one memory: peek and chunk."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from indexing.models import MemoryKind
from memoryproject.cleaning import clean_alone, clean_block
from memoryproject.fields import FlagField, Strict, WholeNumberField, WordField
from memoryproject.tenancy.models import Scope
from memoryproject.views import KeyedView
from retrieval import examples, fencing, reading
from retrieval.cutting import Strategy
from retrieval.forms import FENCE
from retrieval.reading import Chunk, Peek

MAX_TOKENS = 1_000_000
STRATEGIES = [strategy.value for strategy in Strategy]


class ChunkInput(Strict):
    """The body of `memories/{id}/chunk`."""

    max_tokens = WholeNumberField(
        min_value=1, max_value=MAX_TOKENS, help_text="Of the answer's content, header included."
    )
    truncation_strategy = WordField(
        choices=STRATEGIES,
        default=Strategy.END.value,
        help_text="end: the beginning is kept; sentence: its whole sentences; middle: both ends.",
    )
    include_header = FlagField(
        default=False, help_text="Put a line before it that says what it is: `[note: …]`."
    )
    fence = FlagField(default=False, help_text=FENCE)


class Location(serializers.Serializer[Any]):
    """Where in a stored text of yours it stands."""

    span_id = serializers.CharField()
    start_byte = serializers.IntegerField()
    end_byte = serializers.IntegerField(help_text="Excluded.")


class PeekOutput(serializers.Serializer[Any]):
    """What is known about a memory, without its text."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=MemoryKind.choices)
    source_type = serializers.CharField(help_text="A note's source type, else episode or fact.")
    source_id = serializers.CharField(
        allow_null=True, help_text="A note's own, else the id of the conversation."
    )
    label = serializers.CharField()  # type: ignore[assignment]
    description = serializers.CharField(allow_null=True)
    metadata = serializers.DictField()
    related_ids = serializers.ListField(
        child=serializers.UUIDField(), help_text="Linked memories, both ways, newest first."
    )
    related_cut = serializers.BooleanField(
        help_text="There are more: `memories/{id}/links` lists all."
    )
    token_estimate = serializers.IntegerField(help_text="Of the whole content without a header.")
    location = Location(allow_null=True)
    counter = serializers.CharField(help_text="How tokens were counted.")


class ChunkOutput(serializers.Serializer[Any]):
    """A memory's content within the limit."""

    id = serializers.UUIDField()
    content = serializers.CharField(help_text="Header included; empty where nothing fits.")
    token_count = serializers.IntegerField(help_text="Of the content; never above max_tokens.")
    truncated = serializers.BooleanField(
        help_text="Something is missing, of the text or, where it leaves no room, the header."
    )
    header = serializers.CharField(allow_null=True, help_text="The text's first line, if any.")
    fence = serializers.CharField(
        allow_null=True, help_text="The random word in the marks around it, or null."
    )
    counter = serializers.CharField(help_text="How tokens were counted.")


class OneMemory(KeyedView):
    """What a memory is."""

    scope = Scope.READ

    @extend_schema(
        operation_id="peek_memory",
        examples=examples.PEEK,
        responses=PeekOutput,
        description="What is known about an episode, a fact or a note, without its content: to "
        "decide whether its tokens are worth it.",
    )
    def get(self, request: Request, memory_id: uuid.UUID) -> Response:
        return Response(_render_peek(reading.peek(tenant=self.tenant(), memory_id=memory_id)))


class MemoryChunk(KeyedView):
    """What a memory says."""

    scope = Scope.READ

    @extend_schema(
        operation_id="chunk_memory",
        examples=examples.CHUNK,
        request=ChunkInput,
        responses=ChunkOutput,
        description="The content of a memory within a limit: a note's text; an episode's title, "
        "summary and messages; a fact with when it was true and the messages that say it. What is "
        "cut is marked with `…`, and the mark counts.",
    )
    def post(self, request: Request, memory_id: uuid.UUID) -> Response:
        given = self.read(ChunkInput)
        fence = fencing.make_fence(wanted=given["fence"])
        chunk = reading.chunk(
            tenant=self.tenant(),
            memory_id=memory_id,
            max_tokens=given["max_tokens"],
            strategy=Strategy(given["truncation_strategy"]),
            include_header=given["include_header"],
            fence=fence,
        )
        return Response(_render_chunk(chunk) | {"fence": fence.nonce if fence else None})


def _render_peek(peek: Peek) -> dict[str, Any]:
    content = peek.content
    span = content.span
    return {
        "id": str(content.memory_id),
        "kind": content.kind.value,
        "source_type": content.source_type,
        "source_id": content.source_id or None,
        "label": clean_alone(content.label),
        "description": clean_block(content.description) or None,
        "metadata": content.metadata,
        "related_ids": [str(memory_id) for memory_id in peek.related_ids],
        "related_cut": peek.related_cut,
        "token_estimate": peek.token_estimate,
        "location": {
            "span_id": span.span_id,
            "start_byte": span.start_byte,
            "end_byte": span.end_byte,
        }
        if span
        else None,
        "counter": peek.counter,
    }


def _render_chunk(chunk: Chunk) -> dict[str, Any]:
    return {
        "id": str(chunk.memory_id),
        "content": chunk.content,
        "token_count": chunk.token_count,
        "truncated": chunk.truncated,
        "header": chunk.header,
        "counter": chunk.counter,
    }
