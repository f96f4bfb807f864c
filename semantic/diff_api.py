"""Compares what was believed at two moments."""

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

    to = QueryMomentField(required=False)
    conversation_id = IdField(required=False)

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

    what = serializers.ChoiceField(choices=[word.value for word in Difference])
    fact_id = serializers.UUIDField()
    fact = ComparedFact(allow_null=True)
    newer = ComparedFact(allow_null=True)
    because = serializers.CharField(allow_null=True)
    changeset = ChangesetOutput()


class DiffOutput(Output):
    """How two moments differ."""

    to = serializers.DateTimeField()
    items = DifferenceOutput(many=True)

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; `from` is a word of Python's own."""
        return {
            "from": serializers.DateTimeField(help_text="The earlier moment."),
            **super().get_fields(),
        }


class Diff(ReadView):
    """What the server believed at one moment and not at another."""

    @extend_schema(operation_id="diff", parameters=[DiffQuery], responses=DiffOutput)
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
