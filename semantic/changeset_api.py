"""Lists, shows, previews and reverts changesets, and compares what was believed at two moments."""

import uuid
from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic import queries as episodic_queries
from memoryproject.edge import pages
from memoryproject.edge.errors import get_row
from memoryproject.edge.fields import (
    CONVERSATION,
    EARLIEST,
    Column,
    FlagField,
    IdField,
    Output,
    Strict,
    WordField,
)
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.views import ReadView
from semantic import beliefs, reverts
from semantic.curation_api import Curating, Reasoned
from semantic.models import Change, Changeset, Fact
from semantic.renderings import ChangeOutput, StateOutput


class ChangesetQuery(pages.PageQuery):
    kind = WordField("Only those of this kind.", choices=Changeset.Kind.choices, required=False)


class StepsQuery(Strict):
    after = pages.QueryNumberField("Only those behind this one.", required=False, min_value=0)
    limit = pages.LimitField(pages.PAGE_AT_MOST)


class RevertInput(Reasoned):
    """The body of `changesets/{id}/revert`."""

    leave_conflicts = FlagField(
        "Leave what is in the way as it is, and undo the rest.", default=False
    )


class ChangesetOutput(Output):
    """One consolidation run, curation, import or revert."""

    table = Changeset
    id = Column("The id of the changeset.")
    conversation_id = Column(
        "The conversation, by the UUID that the agent chose; null: none.",
        "conversation.external_id",
        allow_null=True,
    )
    kind = Column("What kind of act it was.")
    actor = Column("Who did it: a person, a key, the worker.")
    reason = Column("Why; null: no reason was given, as by a worker.")
    engine = Column("Which engine proposed the changes; null: a person or a key did.")
    model = Column("The language model; null: none was asked.")
    prompt_version = Column("Which instructions the language model had; null: none was asked.")
    degraded = Column("The offline engine stood in for a model.")
    unknown_aliases = Column("Proposals that named a fact which the engine was never shown.")
    job_id = Column("The job whose run it was; null: a person or a key did it.")
    started_at = Column("When it was begun.")
    reverts = Column("The changeset that this undoes.")


class FactStates(Output):
    """A fact before and after a step; null: it was not there."""

    fact_id = serializers.UUIDField(help_text="The id of a fact.")
    before = StateOutput(
        allow_null=True, help_text="The fact before the step; null: it was not there."
    )
    after = StateOutput(
        allow_null=True,
        help_text="The fact after the step; null: the step did not change whether it is active.",
    )


class StepOutput(ChangeOutput):
    """One step of a changeset with the facts that it opened or closed."""

    states = FactStates(
        many=True, help_text="The facts that the step created, retired or restored."
    )


class DetailedChangeset(ChangesetOutput):
    """A changeset with its steps, in pages."""

    reverted_by = serializers.UUIDField(
        source="reverted_by.id",
        allow_null=True,
        help_text="The changeset that has undone this one; null: it stands.",
    )
    changes = StepOutput(many=True, help_text="In their order.")
    next = serializers.CharField(allow_null=True, help_text="Pass as `after`.")


class PlannedStep(Output):
    """What a revert would do about one fact."""

    table = reverts.Step
    fact_id = Column("The id of a fact.", "fact.id")
    fact = Column("The sentence of the fact.", "fact.fact")
    verdict = serializers.ChoiceField(
        source="verdict.value",
        choices=[verdict.value for verdict in reverts.Verdict],
        help_text="`close` and `reopen`: done; `supported`: other evidence holds it, only that of "
        "the changeset goes; `changed_later` and `held_anew`: in the way.",
    )
    is_conflict = Column("Whether it is in the way.", "verdict.is_conflict")
    later = Column("The changesets that are in the way, oldest first.", "later_ids")


class PlanOutput(Output):
    """What reverting a changeset would do now."""

    table = reverts.Plan
    changeset_id = Column("The changeset that would be reverted.", "changeset.id")
    reverted_by = Column("null: not reverted yet.", "reverted_by.id", allow_null=True)
    conflicts = Column("How many steps are in the way.", "conflict_count")
    steps = PlannedStep(many=True, help_text="The last change first.")
    erased = Column("Facts that it touched and nothing brings back.")


class Changesets(ReadView):
    @pages.describe_page("list_changesets", ChangesetQuery, ChangesetOutput, "ChangesetPage")
    def get(self, request: Request) -> Response:
        """List changesets.

        200: A page of changesets, newest first, without their steps.
        """
        rows = Changeset.objects.of(self.tenant()).select_related("conversation")
        return self.list_page(rows, ChangesetOutput, self.read_query(ChangesetQuery))


class OneChangeset(ReadView):
    @describe(
        "get_changeset",
        None,
        DetailedChangeset,
        parameters=[StepsQuery],
        headers="read_from read_age",
    )
    def get(self, request: Request, changeset_id: uuid.UUID) -> Response:
        """Show a changeset with its steps.

        Who or what changed facts, why, and every step with the facts that it opened or closed,
        before and after.
        200: The changeset with a page of its steps.
        """
        query, tenant = self.read_query(StepsQuery), self.tenant()
        rows = Changeset.objects.of(tenant).select_related("conversation")
        changeset = get_row(rows, "changeset", id=changeset_id)
        after = query.get("after", -1)
        changes = Change.objects.of(tenant).filter(changeset=changeset, position__gt=after)
        page, more = pages.load_rows(changes.order_by("position"), query["limit"], place="position")
        revert = reverts.find_revert(changeset)
        return Response(
            {
                **ChangesetOutput(changeset).data,
                "reverted_by": str(revert.id) if revert else None,
                "changes": StepOutput(map(step_values, page), many=True).data,
                "next": str(page[-1].position) if more else None,
            }
        )


class RevertChangeset(Curating):
    """Undoes a changeset, or says what that would do."""

    @describe("plan_revert", answers=PlanOutput)
    def get(self, request: Request, changeset_id: uuid.UUID) -> Response:
        """Preview reverting a changeset.

        200: What reverting it would do now, and what is in the way. Nothing was changed.
        """
        plan = reverts.plan_revert(tenant=self.tenant(), changeset_id=changeset_id)
        return Response(PlanOutput(plan).data)

    @describe("revert_changeset", RevertInput, {201: ChangesetOutput, 409: Error})
    def post(self, request: Request, changeset_id: uuid.UUID) -> Response:
        """Revert a changeset.

        Undoes a changeset by a new one, which is returned and can be reverted too. Sent again after
        a lost answer it answers 409 and changes nothing.
        201: The changeset that reverts it.
        409: It is reverted already, or something is in the way and `leave_conflicts` is not set
            (`GET` says what), or nothing can be reverted: it was an erasure, or all that it did was
            erased.
        """
        body = self.read(RevertInput)
        act = self.take_act(body)
        revert = reverts.revert_changeset(act=act, changeset_id=changeset_id, **body)
        return Response(ChangesetOutput(revert).data, status=201)


def step_values(change: Change) -> dict[str, Any]:
    """Return what a StepOutput reads: a step, with the facts that it opened or closed."""
    fact_states = [
        {"fact_id": fact_id, "before": before, "after": after}
        for fact_id, (before, after) in sorted(change.states.items())
    ]
    return vars(change) | {"states": fact_states}


class DiffQuery(Strict):
    to = pages.QueryMomentField("The later moment, included; default: now.", required=False)
    conversation_id = IdField("Only what belongs to it.", required=False)

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; `from` is a word of Python's own."""
        since = pages.QueryMomentField(
            "The earlier moment. ISO 8601, or ms since 1970; default: before all.", required=False
        )
        return {"from": since, **super().get_fields()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = {"from": EARLIEST, "to": timezone.now(), **attrs}
        if attrs["to"] < attrs["from"]:
            raise serializers.ValidationError({"to": ["This lies before from."]})
        return attrs


class ComparedFact(Output):
    """A fact with its sentence."""

    table = Fact
    id = Column("The id of the fact.")
    conversation_id = Column(CONVERSATION, "conversation.external_id")
    category = Column("One of the eight categories of facts.")
    fact = Column("The fact: one sentence that can be understood by itself.")


class DifferenceOutput(Output):
    """A fact that was active at only one of the two moments."""

    what = serializers.ChoiceField(
        choices=[word.value for word in beliefs.Difference],
        help_text="added; restored: retired before, active again; corrected: it was never true, "
        "and `newer` stands in its place; replaced: it was over, and `newer` is so now; ended: "
        "retired, with nothing in its place.",
    )
    fact_id = serializers.UUIDField(help_text="The id of a fact.")
    fact = ComparedFact(allow_null=True, help_text="null: it was erased since.")
    newer = ComparedFact(allow_null=True, help_text="What stands in its place; null: nothing.")
    because = serializers.CharField(
        allow_null=True,
        help_text="Why it is retired at the later moment: superseded, wrong, reverted or erased; "
        "null: it is active.",
    )
    changeset = ChangesetOutput(help_text="The last act that made it so: who, when and why.")


class DiffOutput(Output):
    """The differences between two moments."""

    from_ = serializers.DateTimeField(help_text="The earlier moment.")
    to = serializers.DateTimeField(help_text="The later moment.")
    items = DifferenceOutput(many=True, help_text="In the order of the acts, oldest first.")


class Diff(ReadView):
    @describe("diff", answers=DiffOutput, parameters=[DiffQuery])
    def get(self, request: Request) -> Response:
        """Compare what was believed at two moments.

        Compares the facts that were active at two moments, by the server's clock: which came, ended
        or were corrected in between, who did it and why. What came and went in between is no
        difference. Over 20,000 steps in between are 400.
        200: The facts that were active at one of the moments alone.
        """
        query, tenant = self.read_query(DiffQuery), self.tenant()
        conversation, items = None, []
        if home := query.get("conversation_id"):
            conversation = episodic_queries.find_conversation(tenant, home)
        if conversation is not None or home is None:
            since, until = query["from"], query["to"]
            items = beliefs.compare(tenant, since, until, conversation=conversation)
        return Response(DiffOutput({**query, "items": items}).data)
