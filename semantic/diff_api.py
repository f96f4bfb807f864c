"""Compares what was believed at two moments."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic import queries as episodic_queries
from memoryproject.edge.fields import EARLIEST, IdField, Output, Strict
from memoryproject.edge.pages import QueryMomentField
from memoryproject.tenancy.views import ReadView
from semantic import beliefs
from semantic.beliefs import Difference
from semantic.changeset_api import ChangesetOutput
from semantic.renderings import CATEGORIES


class DiffQuery(Strict):
    """The query parameters of `diff`."""

    to = QueryMomentField(required=False, help_text="The later moment, included; default: now.")
    conversation_id = IdField(required=False, help_text="Only what belongs to it.")

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; `from` is a word of Python's own."""
        since = QueryMomentField(
            required=False,
            help_text="The earlier moment. ISO 8601, or ms since 1970; default: before all.",
        )
        return {"from": since, **super().get_fields()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = {"from": EARLIEST, "to": timezone.now(), **attrs}
        if attrs["to"] < attrs["from"]:
            raise serializers.ValidationError({"to": ["This lies before from."]})
        return attrs


class ComparedFact(Output):
    """A fact as it was worded."""

    id = serializers.UUIDField()
    conversation_id = serializers.UUIDField(source="conversation.external_id")
    category = serializers.ChoiceField(choices=CATEGORIES)
    fact = serializers.CharField()


class DifferenceOutput(Output):
    """A fact that was active at one of the two moments alone."""

    what = serializers.ChoiceField(
        choices=[word.value for word in Difference],
        help_text="added; restored: retired before, active again; corrected: it was never true, "
        "and `newer` stands in its place; replaced: it was over, and `newer` is so now; ended: "
        "retired, with nothing in its place.",
    )
    fact_id = serializers.UUIDField()
    fact = ComparedFact(allow_null=True, help_text="null: it was erased since.")
    newer = ComparedFact(allow_null=True, help_text="What stands in its place; null: nothing.")
    because = serializers.CharField(
        allow_null=True,
        help_text="Why it is retired at the later moment: superseded, wrong, reverted or erased; "
        "null: it is active.",
    )
    changeset = ChangesetOutput(help_text="The last act that made it so: who, when and why.")


class DiffOutput(Output):
    """How two moments differ."""

    to = serializers.DateTimeField(help_text="The later moment.")
    items = DifferenceOutput(many=True, help_text="In the order of the acts, oldest first.")

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; `from` is a word of Python's own."""
        return {
            "from": serializers.DateTimeField(help_text="The earlier moment."),
            **super().get_fields(),
        }


class Diff(ReadView):
    """What the server believed at one moment and not at another."""

    @extend_schema(
        operation_id="diff",
        parameters=[DiffQuery],
        responses=DiffOutput,
        description="Compares the facts that were active at two moments, by the server's clock: "
        "which came, ended or were corrected in between, who did it and why. What came and went "
        "in between is no difference. Over 20,000 steps in between are 400.",
    )
    def get(self, request: Request) -> Response:
        query = self.read(DiffQuery, request.query_params.dict())
        conversation, items = None, []
        if "conversation_id" in query:
            conversation = episodic_queries.find_conversation(
                tenant=self.tenant(), external_id=query["conversation_id"]
            )
        if conversation is not None or "conversation_id" not in query:
            items = beliefs.compare(
                tenant=self.tenant(),
                since=query["from"],
                until=query["to"],
                conversation=conversation,
            )
        return Response(DiffOutput({**query, "items": items}).data)
