"""Listing facts. There is no call that writes one."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.fields import WordField, say_moment
from memoryproject.pages import PageQuery, page_schema, take_page
from memoryproject.tenancy.models import Scope
from memoryproject.views import KeyedView
from semantic import queries
from semantic.engines import Category
from semantic.models import Evidence, Fact

CATEGORIES = [category.value for category in Category]


class FactOutput(serializers.Serializer[Any]):
    """A fact with the episodes behind it."""

    id = serializers.UUIDField()
    conversation_id = serializers.UUIDField()
    category = serializers.ChoiceField(choices=CATEGORIES)
    fact = serializers.CharField()
    keywords = serializers.ListField(child=serializers.CharField())
    source_episodic_ids = serializers.ListField(child=serializers.UUIDField())
    valid_at = serializers.DateTimeField(help_text="From when on it was true.")
    invalid_at = serializers.DateTimeField(
        allow_null=True, help_text="When the server stopped believing it; null: active."
    )


class ListedFact(FactOutput):
    """A fact as the list has it."""

    created_at = serializers.DateTimeField()
    valid_until = serializers.DateTimeField(allow_null=True)
    invalidated_because = serializers.CharField(allow_null=True)
    superseded_by = serializers.UUIDField(allow_null=True)


class FactQuery(PageQuery):
    """The query parameters of the list of facts."""

    category = WordField(choices=CATEGORIES, required=False)
    state = WordField(
        choices=["active", "invalid", "all"], default="active", help_text="Held, closed, or both."
    )


class Facts(KeyedView):
    """Lists facts, newest first."""

    scope = Scope.READ

    @extend_schema(
        operation_id="list_facts",
        parameters=[FactQuery],
        responses=page_schema(ListedFact, "FactPage"),
    )
    def get(self, request: Request) -> Response:
        query = self.read(FactQuery, request.query_params.dict())
        rows = Fact.objects.of(self.tenant()).select_related("conversation")
        if "conversation_id" in query:
            rows = rows.filter(conversation__external_id=query["conversation_id"])
        if "category" in query:
            rows = rows.filter(category=query["category"])
        if query["state"] != "all":
            rows = rows.filter(invalid_at__isnull=query["state"] == "active")
        return Response(take_page(rows, query=query, render=self._render))

    def _render(self, page: list[Fact]) -> list[dict[str, Any]]:
        evidence = queries.evidence_of(tenant=self.tenant(), fact_ids=[fact.id for fact in page])
        return [
            {
                **render_fact(fact, fact.conversation.external_id, evidence[fact.id]),
                "created_at": say_moment(fact.created_at),
                "valid_until": say_moment(fact.valid_until) if fact.valid_until else None,
                "invalidated_because": fact.invalidated_because or None,
                "superseded_by": str(fact.superseded_by_id) if fact.superseded_by_id else None,
            }
            for fact in page
        ]


def render_fact(fact: Fact, external_id: uuid.UUID, evidence: Sequence[Evidence]) -> dict[str, Any]:
    """Return the fields that every answer has of a fact."""
    return {
        "id": str(fact.id),
        "conversation_id": str(external_id),
        "category": fact.category,
        "fact": fact.fact,
        "keywords": fact.keywords,
        "source_episodic_ids": [str(row.episode_id) for row in evidence],
        "valid_at": say_moment(fact.valid_at),
        "invalid_at": say_moment(fact.invalid_at) if fact.invalid_at else None,
    }
