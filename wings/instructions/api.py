"""The calls `instructions`: what to learn, and a preview of what a text would teach."""

from contextlib import ExitStack
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge import deadlines
from memoryproject.edge.errors import get_row
from memoryproject.edge.fields import ContentField, NameField, Output, Strict
from memoryproject.edge.pages import PlaceQuery, describe_page
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy import limits
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from semantic.engines import Category, PassedOver, Proposal, Why
from wings.ask.asking import translating_failures
from wings.ask.places import taking_place
from wings.instructions import services
from wings.instructions.models import InstructionVersion, read
from wings.instructions.previewing import Preview, preview

TEXT_AT_MOST = 8_000


class Entries(serializers.ListField):
    def __init__(self, **options: Any) -> None:
        child = ContentField(max_length=services.ENTRY_AT_MOST)
        super().__init__(child=child, max_length=services.ENTRIES_AT_MOST, **options)


class TradeWord(Strict):
    """A word of the trade, and what it means."""

    word = ContentField(max_length=services.WORD_AT_MOST)
    meaning = ContentField(max_length=services.ENTRY_AT_MOST)


class TriedInstructions(Strict):
    """Instructions that a preview tries."""

    keep = Entries()
    never = Entries()
    words = serializers.ListField(child=TradeWord(), max_length=services.ENTRIES_AT_MOST)


class AgentInput(Strict):
    """Whose instructions: an agent's, or the whole tenant's."""

    agent_id = NameField(default="", allow_blank=True)


class InstructionsInput(AgentInput, TriedInstructions):
    """The body of `PUT instructions`."""


class PreviewInput(AgentInput):
    """The body of `instructions/preview`."""

    text = ContentField(max_length=TEXT_AT_MOST)
    instructions = TriedInstructions(required=False)


class VersionsQuery(PlaceQuery):
    agent_id = NameField(allow_blank=True)


class InstructionsOutput(Output):
    """A version of instructions."""

    table = InstructionVersion
    columns = "id agent_id? keep never words actor created_at undone_at undone_by?"
    words = TradeWord(many=True)


class PreviewedFact(Output):
    """A fact that would be made."""

    table, columns = Proposal, "category fact pending=is_doubtful"
    category = serializers.ChoiceField(choices=list(Category))


class LeftOut(Output):
    """A sentence that would become no fact, and why."""

    table, columns = PassedOver, "text why"
    why = serializers.ChoiceField(choices=list(Why))


class PreviewOutput(serializers.Serializer[Any]):
    """What a text would teach."""

    facts = PreviewedFact(many=True)
    left_out = LeftOut(many=True)
    engine = serializers.CharField()
    degraded = serializers.BooleanField()
    model = serializers.CharField(allow_null=True)
    model_calls = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)


class InstructionsView(KeyedView):
    scope = Scope.ADMIN


class CurrentInstructions(InstructionsView):
    """The instructions in effect, of the tenant or of one agent."""

    @describe(
        "get_instructions", None, {200: InstructionsOutput, 404: Error}, parameters=[AgentInput]
    )
    def get(self, request: Request) -> Response:
        query = self.read_query(AgentInput)
        rows = services.list_versions(self.tenant(), **query).order_by("-id")
        return Response(InstructionsOutput(get_row(rows, "version of instructions")).data)

    @describe("put_instructions", InstructionsInput, {200: InstructionsOutput})
    def put(self, request: Request) -> Response:
        params = self.read(InstructionsInput)
        version = services.save_version(tenant=self.tenant(), actor=self.actor(), **params)
        return Response(InstructionsOutput(version).data)


class InstructionVersions(InstructionsView):
    """All versions, undone ones too."""

    @describe_page("list_instructions", VersionsQuery, InstructionsOutput, "InstructionsPage")
    def get(self, request: Request) -> Response:
        rows = InstructionVersion.objects.of(self.tenant())
        return self.list_page(rows, InstructionsOutput, self.read_query(VersionsQuery))


class UndoInstructions(InstructionsView):
    """Undoes the version in effect."""

    @describe("undo_instructions", AgentInput, {200: InstructionsOutput, 404: Error})
    def post(self, request: Request) -> Response:
        version = services.undo_newest(
            tenant=self.tenant(), actor=self.actor(), now=timezone.now(), **self.read(AgentInput)
        )
        return Response(InstructionsOutput(version).data)


class PreviewInstructions(InstructionsView):
    """Shows what a text would teach; nothing is stored."""

    @describe("preview_instructions", PreviewInput, {200: PreviewOutput, 409: Error})
    def post(self, request: Request) -> Response:
        params = self.read(PreviewInput)
        tenant, tried = self.tenant(), params.get("instructions")
        instructions = services.find_instructions(
            tenant, params["agent_id"], tried=read(**tried) if tried else None
        )
        with ExitStack() as stack:
            if settings.LLM != "offline":  # as for a question
                limits.take(limits.question_allowances_of(tenant))
                deadlines.extend(settings.MODEL_TIMEOUT_S)
                stack.enter_context(taking_place(tenant))
            stack.enter_context(translating_failures())
            shown = preview(tenant, params["text"], instructions, now=timezone.now())
        return Response(render(shown))


def render(shown: Preview) -> dict[str, Any]:
    """Return the values of a `PreviewOutput`."""
    costs = [call.cost for call in shown.calls]
    return {
        "facts": PreviewedFact(shown.facts, many=True).data,
        "left_out": LeftOut(shown.left_out, many=True).data,
        "engine": shown.answer.engine,
        "degraded": shown.answer.degraded,
        "model": shown.calls[-1].model if shown.calls else None,
        "model_calls": len(shown.calls),
        "cost": None if None in costs else float(sum(cost for cost in costs if cost is not None)),
    }
