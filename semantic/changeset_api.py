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
from memoryproject.edge.fields import EARLIEST, FlagField, IdField, Output, Strict, WordField
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.views import ReadView
from semantic import beliefs, reverts
from semantic.curation_api import Curating, Reasoned
from semantic.models import Change, Changeset, Fact
from semantic.renderings import ChangeOutput, StateOutput


class ChangesetQuery(pages.PageQuery):
    kind = WordField(choices=Changeset.Kind.choices, required=False)


class StepsQuery(Strict):
    after = pages.QueryNumberField(required=False, min_value=0)
    limit = pages.QueryNumberField(
        default=pages.PAGE_AT_MOST, min_value=1, max_value=pages.PAGE_AT_MOST
    )


class RevertInput(Reasoned):
    """The body of `changesets/{id}/revert`."""

    leave_conflicts = FlagField(default=False)


class ChangesetOutput(Output):
    """One consolidation run, curation, import or revert."""

    table = Changeset
    columns = (
        "id conversation_id=conversation.external_id? kind actor reason engine model "
        "prompt_version degraded unknown_aliases job_id started_at reverts"
    )


class FactStates(Output):
    """A fact before and after a step; null: it was not there."""

    fact_id = serializers.UUIDField()
    before = StateOutput(allow_null=True)
    after = StateOutput(allow_null=True)


class StepOutput(ChangeOutput):
    """One step of a changeset with the facts that it opened or closed."""

    states = FactStates(many=True)


class DetailedChangeset(ChangesetOutput):
    """A changeset with its steps, in pages."""

    reverted_by = serializers.UUIDField(source="reverted_by.id", allow_null=True)
    changes = StepOutput(many=True)
    next = serializers.CharField(allow_null=True)


class PlannedStep(Output):
    """What a revert would do about one fact."""

    fact_id = serializers.UUIDField(source="fact.id")
    fact = serializers.CharField(source="fact.fact")
    verdict = serializers.ChoiceField(
        source="verdict.value", choices=[verdict.value for verdict in reverts.Verdict]
    )
    is_conflict = serializers.BooleanField(source="verdict.is_conflict")
    later = serializers.ListField(source="later_ids", child=serializers.UUIDField())


class PlanOutput(Output):
    """What reverting a changeset would do now."""

    table = reverts.Plan
    columns = (
        "changeset_id=changeset.id reverted_by=reverted_by.id? conflicts=conflict_count "
        "steps erased"
    )
    steps = PlannedStep(many=True)


class Changesets(ReadView):
    """Lists changesets, newest first."""

    @pages.describe_page("list_changesets", ChangesetQuery, ChangesetOutput, "ChangesetPage")
    def get(self, request: Request) -> Response:
        rows = Changeset.objects.of(self.tenant()).select_related("conversation")
        return self.list_page(rows, ChangesetOutput, self.read_query(ChangesetQuery))


class OneChangeset(ReadView):
    """A changeset with its steps."""

    @describe("get_changeset", answers=DetailedChangeset, parameters=[StepsQuery])
    def get(self, request: Request, changeset_id: uuid.UUID) -> Response:
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
        plan = reverts.plan_revert(tenant=self.tenant(), changeset_id=changeset_id)
        return Response(PlanOutput(plan).data)

    @describe("revert_changeset", RevertInput, {201: ChangesetOutput, 409: Error})
    def post(self, request: Request, changeset_id: uuid.UUID) -> Response:
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
    to = pages.QueryMomentField(required=False)
    conversation_id = IdField(required=False)

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; `from` is a word of Python's own."""
        return {"from": pages.QueryMomentField(required=False), **super().get_fields()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = {"from": EARLIEST, "to": timezone.now(), **attrs}
        if attrs["to"] < attrs["from"]:
            raise serializers.ValidationError({"to": ["This lies before from."]})
        return attrs


class ComparedFact(Output):
    """A fact with its sentence."""

    table, columns = Fact, "id conversation_id=conversation.external_id category fact"


class DifferenceOutput(Output):
    """A fact that was active at only one of the two moments."""

    what = serializers.ChoiceField(choices=[word.value for word in beliefs.Difference])
    fact_id = serializers.UUIDField()
    fact = ComparedFact(allow_null=True)
    newer = ComparedFact(allow_null=True)
    because = serializers.CharField(allow_null=True)
    changeset = ChangesetOutput()


class DiffOutput(Output):
    """The differences between two moments."""

    to = serializers.DateTimeField()
    items = DifferenceOutput(many=True)

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; `from` is a word of Python's own."""
        return {"from": serializers.DateTimeField(), **super().get_fields()}


class Diff(ReadView):
    """What the server believed at one moment and not at another."""

    @describe("diff", answers=DiffOutput, parameters=[DiffQuery])
    def get(self, request: Request) -> Response:
        query, tenant = self.read_query(DiffQuery), self.tenant()
        conversation, items = None, []
        if home := query.get("conversation_id"):
            conversation = episodic_queries.find_conversation(tenant, home)
        if conversation is not None or home is None:
            since, until = query["from"], query["to"]
            items = beliefs.compare(tenant, since, until, conversation=conversation)
        return Response(DiffOutput({**query, "items": items}).data)
