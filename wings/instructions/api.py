"""The calls `instructions`: what to learn, and a preview of what a text would teach."""

from contextlib import ExitStack
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.errors import get_row
from memoryproject.edge.fields import Column, ContentField, NameField, Output, Strict
from memoryproject.edge.pages import PlaceQuery, describe_page
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from semantic.engines import Category, PassedOver, Proposal, Why
from wings.ask.api import ModelOutput, render_calls
from wings.ask.asking import translating_failures
from wings.ask.places import taking_place
from wings.instructions import services
from wings.instructions.models import InstructionVersion, read
from wings.instructions.previewing import Preview, preview

TEXT_AT_MOST = 8_000


class Entries(serializers.ListField):
    """Entries of one kind: texts, or rows of a `child` form; none where they are left out."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("child", ContentField(max_length=services.ENTRY_AT_MOST))
        super().__init__(max_length=services.ENTRIES_AT_MOST, default=list, **options)


KEEP = (
    "What to keep as a fact, though it may seem small. Without a language model, examples work "
    "best."
)
NEVER = "What never to keep as a fact: words, or what it is about."
WORDS = "Words of the trade, and what they mean."
LABELS = (
    "Labels of facts beside the categories, a row for each example: the most similar one is a "
    "keyword of the fact, with # before it."
)
WHOSE = "Whose: an agent's; absent: all of the tenant."


class TradeWord(Strict):
    """A word of the trade, and what it means."""

    word = ContentField("The word, whatever its case.", max_length=services.WORD_AT_MOST)
    meaning = ContentField("What it means.", max_length=services.ENTRY_AT_MOST)


class Label(Strict):
    """A label of facts, and one that has it."""

    label = ContentField(  # type: ignore[assignment]
        "The label.", max_length=services.WORD_AT_MOST
    )
    example = ContentField("A sentence that has it.", max_length=services.ENTRY_AT_MOST)


class TriedInstructions(Strict):
    """Instructions that a preview tries."""

    keep = Entries(help_text=KEEP)
    never = Entries(help_text=NEVER)
    words = Entries(child=TradeWord(), help_text=WORDS)
    labels = Entries(child=Label(), help_text=LABELS)


class AgentInput(Strict):
    """Whose instructions: an agent's, or the whole tenant's."""

    agent_id = NameField(WHOSE, default="", allow_blank=True)


class InstructionsInput(AgentInput, TriedInstructions):
    """The body of `PUT instructions`: at least one of the lists; the others become empty."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if self.initial_data.keys().isdisjoint(TriedInstructions().fields):
            raise serializers.ValidationError({"keep": ["Give at least one of the lists."]})
        return attrs


class PreviewInput(AgentInput):
    """The body of `instructions/preview`."""

    text = ContentField("What a user would write.", max_length=TEXT_AT_MOST)
    instructions = TriedInstructions(
        required=False, help_text="To be tried in place of the saved ones."
    )


class VersionsQuery(PlaceQuery):
    agent_id = NameField("Only this agent's; empty: only the tenant's.", allow_blank=True)


class InstructionsOutput(Output):
    """A version of instructions."""

    table = InstructionVersion
    id = Column("The id of the version.")
    agent_id = Column("Whose: an agent's; null: all of the tenant.", allow_null=True)
    keep = Column(KEEP)
    never = Column(NEVER)
    words = TradeWord(many=True, help_text=WORDS)
    labels = Label(many=True, help_text=LABELS)
    actor = Column("Who saved it.")
    created_at = Column("When it was saved.")
    undone_at = Column("When it was undone; null: it was not.")
    undone_by = Column("Who undid it; null: nobody.", allow_null=True)


class PreviewedFact(Output):
    """A fact that would be made."""

    table = Proposal
    category = serializers.ChoiceField(choices=list(Category), help_text="Its category.")
    fact = Column("The fact: one sentence that can be understood by itself.")
    keywords = Column("Names and nouns of the fact, and its label with # before it.")
    pending = Column("Whether a person would have to approve it.", "is_doubtful")


class LeftOut(Output):
    """A sentence that would become no fact, and why."""

    table = PassedOver
    text = Column("The sentence.")
    why = serializers.ChoiceField(
        choices=list(Why),
        help_text="`never`: the instructions say so; `pasted`: quoted or pasted; `unusable`: the "
        "model's row was of no use; `not_worth_keeping`: it seems to matter only now.",
    )


class PreviewOutput(ModelOutput):
    """What a text would teach."""

    facts = PreviewedFact(
        many=True, help_text="Those that would be made, before they are compared with stored ones."
    )
    left_out = LeftOut(many=True, help_text="Sentences of the text that no fact has.")
    engine = serializers.CharField(help_text="Which one it was: `llm` or `offline`.")
    degraded = serializers.BooleanField(
        help_text="Whether the offline engine took over, as the model's answers were of no use."
    )


class InstructionsView(KeyedView):
    scope = Scope.ADMIN


class CurrentInstructions(InstructionsView):
    @describe(
        "get_instructions", None, {200: InstructionsOutput, 404: Error}, parameters=[AgentInput]
    )
    def get(self, request: Request) -> Response:
        """Show the instructions in effect.

        The instructions of the tenant, or of one agent: the newest version that is not undone. An
        agent follows the tenant's and its own.
        200: The version in effect.
        404: There are no instructions.
        """
        query = self.read_query(AgentInput)
        rows = services.list_versions(self.tenant(), **query)
        return Response(InstructionsOutput(get_row(rows, "version of instructions")).data)

    @describe("put_instructions", InstructionsInput, {200: InstructionsOutput})
    def put(self, request: Request) -> Response:
        """Save instructions.

        Says what to keep and what never to keep as facts, and what words of the trade mean, from
        the next run on: facts that are stored already stay. Each save is a new version, which
        replaces the one before. With a language model they are in its instructions; offline,
        `never` leaves out sentences with its words or of about its meaning, and `keep` keeps
        sentences that are like its own. Messages are stored and found all the same.
        200: The new version, in effect from now on.
        """
        params = self.read(InstructionsInput)
        version = services.save_version(tenant=self.tenant(), actor=self.actor(), **params)
        return Response(InstructionsOutput(version).data)


class InstructionVersions(InstructionsView):
    @describe_page("list_instructions", VersionsQuery, InstructionsOutput, "InstructionsPage")
    def get(self, request: Request) -> Response:
        """List the versions of instructions.

        All versions, newest first, with who saved and who undid them.
        200: A page of versions.
        """
        rows = InstructionVersion.objects.of(self.tenant())
        return self.list_page(rows, InstructionsOutput, self.read_query(VersionsQuery))


class UndoInstructions(InstructionsView):
    @describe("undo_instructions", AgentInput, {200: InstructionsOutput, 404: Error})
    def post(self, request: Request) -> Response:
        """Undo the newest instructions.

        Undoes the version in effect: the one before is in effect again, if there is one.
        200: The undone version.
        404: There are no instructions.
        """
        version = services.undo_newest(
            tenant=self.tenant(), actor=self.actor(), now=timezone.now(), **self.read(AgentInput)
        )
        return Response(InstructionsOutput(version).data)


class PreviewInstructions(InstructionsView):
    @describe("preview_instructions", PreviewInput, {200: PreviewOutput, 409: Error})
    def post(self, request: Request) -> Response:
        """See what a text would teach.

        Takes a text as a user's message to an assistant, and shows the facts that would be made of
        it, and what would be left out and why. `instructions` are tried in place of those saved for
        the same `agent_id`. No message, fact or receipt is stored; of a language model its cost is.
        200: Facts and what is left out.
        409: The model has no price, and there is a budget.
        """
        params = self.read(PreviewInput)
        tenant, tried = self.tenant(), params.get("instructions")
        instructions = services.find_instructions(
            tenant, params["agent_id"], tried=read(**tried) if tried else None
        )
        with ExitStack() as stack:
            if settings.LLM != "offline":  # as for a question
                stack.enter_context(taking_place(tenant))
            stack.enter_context(translating_failures())
            shown = preview(tenant, params["text"], instructions, now=timezone.now())
        return Response(render(shown))


def render(shown: Preview) -> dict[str, Any]:
    """Return the values of a `PreviewOutput`."""
    return {
        "facts": PreviewedFact(shown.facts, many=True).data,
        "left_out": LeftOut(shown.left_out, many=True).data,
        "engine": shown.answer.engine,
        "degraded": shown.answer.degraded,
        **render_calls(shown.calls),
    }
