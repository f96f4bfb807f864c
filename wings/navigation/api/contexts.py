"""The calls `contexts`: start one, add memories within its budget, and read it."""

import uuid
from datetime import timedelta

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.fields import ContentField, IdField, Output, Strict, WholeNumberField
from memoryproject.edge.headers import markdown_response, set_headers
from memoryproject.edge.schema import describe
from memoryproject.tenancy.views import ReadView
from retrieval.api.answers import MARKDOWN, BudgetField, LinksField
from retrieval.models import Context, ContextSection
from wings.navigation import contexts

EXPIRES_AT_MOST = timedelta(days=7)


class NewContext(Strict):
    """The body of `contexts`."""

    max_tokens = BudgetField()
    system_prompt = ContentField(required=False)
    reserved_for_response = BudgetField(default=contexts.RESERVED, min_value=0)
    expires_in_s = WholeNumberField(
        default=int(contexts.EXPIRES_AFTER.total_seconds()),
        min_value=1,
        max_value=int(EXPIRES_AT_MOST.total_seconds()),
    )


class NewSection(Strict):
    """The body of `contexts/{id}/add`."""

    memory_id = IdField()
    max_tokens = BudgetField(default=contexts.ADDED_AT_MOST, max_value=contexts.ADDED_AT_MOST)
    priority = WholeNumberField(
        default=contexts.PRIORITY, min_value=0, max_value=contexts.SYSTEM_PRIORITY
    )
    links = LinksField()


class Section(Output):
    """A part of a context."""

    table, columns = ContextSection, "type memory_id priority token_count truncated content"
    type = serializers.ChoiceField(choices=ContextSection.Kind.choices, source="kind")
    token_count = serializers.IntegerField(source="tokens")


class ContextOutput(Output):
    """A context in its current state."""

    table = Context
    columns = (
        "id max_tokens reserved_for_response remaining_tokens sections retrieved_ids counter "
        "created_at expires_at"
    )
    reserved_for_response = serializers.IntegerField(source="reserved_tokens")
    sections = Section(many=True)


class AddedOutput(Output):
    """The result of adding a memory."""

    table = contexts.Addition
    columns = (
        "context_id=context.id memory_id added=has_memory reason token_count truncated "
        "context.remaining_tokens context.counter"
    )
    reason = serializers.ChoiceField(choices=contexts.OUTCOMES)
    truncated = serializers.BooleanField(source="section.truncated", allow_null=True)


class Contexts(ReadView):
    @describe("make_context", NewContext, {201: ContextOutput})
    def post(self, request: Request) -> Response:
        params = self.read(NewContext)
        expires_after = timedelta(seconds=params.pop("expires_in_s"))
        context = contexts.create_context(
            tenant=self.tenant(), made_by=self.key(), expires_after=expires_after, **params
        )
        return Response(ContextOutput(context).data, status=201)


class OneContext(ReadView):
    @describe("get_context", answers=ContextOutput)
    def get(self, request: Request, context_id: uuid.UUID) -> Response:
        context = contexts.get_context(tenant=self.tenant(), context_id=context_id)
        return Response(ContextOutput(context).data)


class ContextText(ReadView):
    @describe("get_context_text", answers=MARKDOWN)
    def get(self, request: Request, context_id: uuid.UUID) -> HttpResponse:
        context = contexts.get_context(tenant=self.tenant(), context_id=context_id)
        return set_headers(
            markdown_response(context.text),
            token_counter=context.counter,
            remaining_tokens=context.remaining_tokens,
        )


class ContextAdd(ReadView):
    @describe("add_to_context", NewSection, AddedOutput)
    def post(self, request: Request, context_id: uuid.UUID) -> Response:
        params = self.read(NewSection)
        style = params.pop("links", self.key().links)
        addition = contexts.add_memory(
            tenant=self.tenant(), context_id=context_id, style=style, **params
        )
        return Response(AddedOutput(addition).data)
