"""The calls `contexts`: start one, add memories within its budget, and read it."""

import uuid
from datetime import timedelta

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.fields import (
    Column,
    ContentField,
    IdField,
    Output,
    Strict,
    WholeNumberField,
)
from memoryproject.edge.headers import markdown_response, set_headers
from memoryproject.edge.schema import describe
from memoryproject.tenancy.views import ReadView
from retrieval.api.answers import MARKDOWN, BudgetField, LinksField
from retrieval.models import Context, ContextSection
from wings.navigation import contexts

EXPIRES_AT_MOST = timedelta(days=7)


class NewContext(Strict):
    """The body of `contexts`."""

    max_tokens = BudgetField("Of prompt and response together.")
    system_prompt = ContentField("Stands first, whole. 400 where it does not fit.", required=False)
    reserved_for_response = BudgetField(
        "Of max_tokens, left for the response.", default=contexts.RESERVED, min_value=0
    )
    expires_in_s = WholeNumberField(
        "Then it is gone; a day if nothing is said, a week at most.",
        default=int(contexts.EXPIRES_AFTER.total_seconds()),
        min_value=1,
        max_value=int(EXPIRES_AT_MOST.total_seconds()),
    )


class NewSection(Strict):
    """The body of `contexts/{id}/add`."""

    memory_id = IdField("An episode, a fact or a note.")
    max_tokens = BudgetField(
        "Of this memory at most; less where less room is left.",
        default=contexts.ADDED_AT_MOST,
        max_value=contexts.ADDED_AT_MOST,
    )
    priority = WholeNumberField(
        "The highest stands first; the system prompt has 100.",
        default=contexts.PRIORITY,
        min_value=0,
        max_value=contexts.SYSTEM_PRIORITY,
    )
    links = LinksField()


class Section(Output):
    """A part of a context."""

    table = ContextSection
    type = Column("`system`: the system prompt; `retrieved`: a memory.", "kind")
    memory_id = Column("null: the system prompt.")
    priority = Column("From 0 to 100; the highest stands first.")
    token_count = Column("Tokens of the section's content.", "tokens")
    truncated = Column("A part of the memory is missing.")
    content = Column("The text of the section, as it goes into the prompt.")


class ContextOutput(Output):
    """A context in its current state."""

    table = Context
    id = Column("The id of the context.")
    max_tokens = Column("Tokens of prompt and response together.")
    reserved_for_response = Column(
        "Tokens of `max_tokens` that are left for the response.", "reserved_tokens"
    )
    remaining_tokens = Column("Less the response, all sections, and the blank lines between them.")
    sections = Section(many=True, help_text="Highest priority first, then in order of adding.")
    retrieved_ids = Column("The memories that it quotes, in the order of the sections.")
    counter = Column("How its tokens are counted.")
    created_at = Column("When it was started.")
    expires_at = Column("From then on it is unknown.")


class AddedOutput(Output):
    """The result of adding a memory."""

    table = contexts.Addition
    context_id = Column("The context.", "context.id")
    memory_id = Column("The memory that was to be added.")
    added = Column("The context holds it now.", "has_memory")
    reason = serializers.ChoiceField(
        choices=contexts.OUTCOMES,
        help_text="`added`; `already_there`: nothing changed; `no_room`: nothing of it fits.",
    )
    token_count = Column("Of its section; 0 without one.")
    truncated = Column("null without a section.", "section.truncated", allow_null=True)
    remaining_tokens = Column(
        "Tokens that may still be added, the blank line before the next section included.",
        "context.remaining_tokens",
    )
    counter = Column("How its tokens are counted.", "context.counter")


class Contexts(ReadView):
    @describe("make_context", NewContext, {201: ContextOutput})
    def post(self, request: Request) -> Response:
        """Start a context: a prompt within a budget.

        Starts a context: a text for one prompt that is put together within a budget of tokens, and
        never exceeds it.
        201: The context, with the system prompt as its first section if there is one.
        """
        params = self.read(NewContext)
        expires_after = timedelta(seconds=params.pop("expires_in_s"))
        context = contexts.create_context(
            tenant=self.tenant(), made_by=self.key(), expires_after=expires_after, **params
        )
        return Response(ContextOutput(context).data, status=201)


class OneContext(ReadView):
    @describe("get_context", answers=ContextOutput)
    def get(self, request: Request, context_id: uuid.UUID) -> Response:
        """Show a context with its sections.

        200: The context as it is now; a note that was deleted since is left out.
        """
        context = contexts.get_context(tenant=self.tenant(), context_id=context_id)
        return Response(ContextOutput(context).data)


class ContextText(ReadView):
    @describe("get_context_text", answers=MARKDOWN, headers="token_counter remaining_tokens")
    def get(self, request: Request, context_id: uuid.UUID) -> HttpResponse:
        """Get the text of a context, for a prompt.

        The sections with a blank line between them: highest priority first, then in order of
        adding. An empty body where there is none.
        200: All sections as one markdown text.
        """
        context = contexts.get_context(tenant=self.tenant(), context_id=context_id)
        return set_headers(
            markdown_response(context.text),
            token_counter=context.counter,
            remaining_tokens=context.remaining_tokens,
        )


class ContextAdd(ReadView):
    @describe("add_to_context", NewSection, AddedOutput)
    def post(self, request: Request, context_id: uuid.UUID) -> Response:
        """Add a memory to a context.

        Adds what a memory says, under a header, cut to what fits. Adding it again changes nothing:
        reason already_there. Where nothing of it fits, added is false: no_room.
        200: Whether the context contains the memory now, and what room is left.
        404: Your tenant has no such context, or it has expired, or no such memory.
        """
        params = self.read(NewSection)
        style = params.pop("links", self.key().links)
        addition = contexts.add_memory(
            tenant=self.tenant(), context_id=context_id, style=style, **params
        )
        return Response(AddedOutput(addition).data)
