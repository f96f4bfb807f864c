"""The calls `memories/{id}`: peek at one memory, and read a chunk of it."""

import uuid

from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.fields import Column, FlagField, Output, Strict, WordField
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

    max_tokens = BudgetField("Of the answer's content, header included.")
    truncation_strategy = WordField(
        "end: the beginning is kept; sentence: its whole sentences; middle: both ends.",
        source="strategy",
        choices=STRATEGIES,
        default=Strategy.END.value,
    )
    include_header = FlagField(
        "Put a line before it that says what it is: `[note: …]`.", default=False
    )
    fence = FenceField()
    links = LinksField()


class Location(SpanOutput):
    """Position in a stored text of yours."""


class PeekOutput(Output):
    """What is known about a memory, without its text."""

    table = reading.Peek
    id = Column("The id of the memory.", "memory.id")
    kind = Column("What kind of memory it is: episode, fact or note.", "memory.kind")
    source_type = Column("A note's source type, else episode or fact.", "memory.source_type")
    source_id = Column(
        "A note's own, else the id of the conversation.", "memory.source_id", allow_null=True
    )
    label = Column("A line to show it by.", "memory.clean_label")  # type: ignore[assignment]
    description = Column(
        "Of a note a few sentences about it, of an episode its summary, of a fact when it was "
        "true; null: none.",
        "memory.clean_description",
        allow_null=True,
    )
    metadata = Column(
        "Of a note what you gave; of an episode its messages and times; of a fact its category, "
        "its times and how many episodes support it.",
        "memory.metadata",
    )
    related_ids = Column("Linked memories, both ways, newest first.")
    related_cut = Column("There are more: `memories/{id}/links` lists all.")
    token_estimate = Column(
        "Of the whole content without a header: the sum of its parts, which were counted when "
        "they were written.",
        "memory.token_estimate",
    )
    location = Location(
        source="memory.span",
        allow_null=True,
        help_text="Where in a stored text of yours the note stands; null: nowhere.",
    )
    counter = Column("How tokens were counted.")


class ChunkOutput(Output):
    """A memory's content, up to the limit."""

    table = reading.Chunk
    id = Column("The id of the memory.", "memory_id")
    content = Column("Header included; empty where nothing fits.")
    token_count = Column("Of the content; never above max_tokens.")
    truncated = Column("Something is missing, of the text or, where it leaves no room, the header.")
    header = Column("The text's first line, if any.")
    counter = Column("How tokens were counted.")
    fence = Column("The random word in the marks around it, or null.", "fence.nonce")


class OneMemory(ReadView):
    for_users = True

    @describe("peek_memory", answers=PeekOutput)
    def get(self, request: Request, memory_id: uuid.UUID) -> Response:
        """See what a memory is and how many tokens it has.

        What is known about an episode, a fact or a note, without its content: to decide whether its
        tokens are worth it.
        200: What the memory is, without its content.
        """
        style = self.key().links
        peek = reading.peek(tenant=self.tenant(), memory_id=memory_id, style=style)
        return Response(PeekOutput(peek).data)


class MemoryChunk(ReadView):
    for_users = True

    @describe("chunk_memory", ChunkInput, ChunkOutput)
    def post(self, request: Request, memory_id: uuid.UUID) -> Response:
        """Read a memory within a number of tokens.

        The content of a memory within a limit: a note's text; an episode's title, summary and
        messages; a fact with when it was true and the messages that say it. What is cut is marked
        with `…`, and the mark counts.
        200: As much of the content as fits.
        """
        params = self.read(ChunkInput)
        params["strategy"] = Strategy(params["strategy"])
        params["fence"] = markdown.make_fence(wanted=params["fence"])
        style = params.pop("links", self.key().links)
        chunk = reading.chunk(tenant=self.tenant(), memory_id=memory_id, style=style, **params)
        return Response(ChunkOutput(chunk).data)
