"""The calls `memories/{id}`: peek at one memory, and read a chunk of it."""

import uuid

from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.fields import FlagField, Output, Strict, WordField
from memoryproject.edge.schema import describe
from memoryproject.tenancy.views import ReadView
from retrieval import markdown
from retrieval.api.answers import BudgetField, FenceField, LinksField
from retrieval.truncation import Strategy
from wings.navigation import reading
from wings.notes.renderings import SpanOutput

STRATEGIES = [strategy.value for strategy in Strategy]


class ChunkInput(Strict):
    """The body of `memories/{id}/chunk`."""

    max_tokens = BudgetField()
    truncation_strategy = WordField(
        source="strategy", choices=STRATEGIES, default=Strategy.END.value
    )
    include_header = FlagField(default=False)
    fence = FenceField()
    links = LinksField()


class Location(SpanOutput):
    """Position in a stored text of yours."""


class PeekOutput(Output):
    """What is known about a memory, without its text."""

    table = reading.Peek
    columns = (
        "memory.id memory.kind memory.source_type memory.source_id? label=memory.clean_label "
        "description=memory.clean_description? memory.metadata related_ids related_cut "
        "memory.token_estimate location counter"
    )
    location = Location(source="memory.span", allow_null=True)


class ChunkOutput(Output):
    """A memory's content, up to the limit."""

    table = reading.Chunk
    columns = "id=memory_id content token_count truncated header counter fence=fence.nonce"


class OneMemory(ReadView):
    for_users = True

    @describe("peek_memory", answers=PeekOutput)
    def get(self, request: Request, memory_id: uuid.UUID) -> Response:
        style = self.key().links
        peek = reading.peek(tenant=self.tenant(), memory_id=memory_id, style=style)
        return Response(PeekOutput(peek).data)


class MemoryChunk(ReadView):
    for_users = True

    @describe("chunk_memory", ChunkInput, ChunkOutput)
    def post(self, request: Request, memory_id: uuid.UUID) -> Response:
        params = self.read(ChunkInput)
        params["strategy"] = Strategy(params["strategy"])
        params["fence"] = markdown.make_fence(wanted=params["fence"])
        style = params.pop("links", self.key().links)
        chunk = reading.chunk(tenant=self.tenant(), memory_id=memory_id, style=style, **params)
        return Response(ChunkOutput(chunk).data)
