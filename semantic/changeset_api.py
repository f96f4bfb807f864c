"""Reading changesets, and undoing them."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.errors import NotFound
from memoryproject.pages import page_schema, take_page
from memoryproject.schema import Error
from memoryproject.tenancy.models import Scope
from memoryproject.views import KeyedView
from semantic import histories, renderings, reverting
from semantic.curation_api import AGAIN, Curating
from semantic.forms import (
    ChangesetOutput,
    ChangesetQuery,
    DetailedChangeset,
    PlanOutput,
    RevertInput,
    StepsQuery,
)
from semantic.models import Changeset


class Changesets(KeyedView):
    """Lists changesets, newest first."""

    scope = Scope.READ

    @extend_schema(
        operation_id="list_changesets",
        parameters=[ChangesetQuery],
        responses=page_schema(ChangesetOutput, "ChangesetPage"),
    )
    def get(self, request: Request) -> Response:
        query = self.read(ChangesetQuery, request.query_params.dict())
        rows = Changeset.objects.of(self.tenant()).select_related("conversation")
        if "conversation_id" in query:
            rows = rows.filter(conversation__external_id=query["conversation_id"])
        if "kind" in query:
            rows = rows.filter(kind=query["kind"])
        return Response(
            take_page(
                rows,
                query=query,
                render=lambda page: [renderings.render_changeset(row) for row in page],
            )
        )


class OneChangeset(KeyedView):
    """A changeset with its steps."""

    scope = Scope.READ

    @extend_schema(
        operation_id="get_changeset",
        parameters=[StepsQuery],
        responses=DetailedChangeset,
        description="Who or what changed facts, why, and every step with the facts that it opened "
        "or closed, before and after.",
    )
    def get(self, request: Request, changeset_id: uuid.UUID) -> Response:
        query = self.read(StepsQuery, request.query_params.dict())
        rows = Changeset.objects.of(self.tenant()).select_related("conversation")
        changeset = rows.filter(id=changeset_id).first()
        if changeset is None:
            raise NotFound("There is no such changeset.")
        changeset.tenant = self.tenant()
        found = histories.changes_in(
            changeset, after=query.get("after", -1), at_most=query["limit"] + 1
        )
        page = found[: query["limit"]]
        return Response(
            {
                **renderings.render_changeset(changeset),
                "reverted_by": _id(reverting.find_revert(changeset)),
                "changes": [renderings.render_step(change) for change in page],
                "next": str(page[-1].position) if len(found) > len(page) else None,
            }
        )


class RevertChangeset(Curating):
    """Undoes a changeset, or says what that would do."""

    @extend_schema(
        operation_id="plan_revert",
        responses=PlanOutput,
        description="Says what reverting a changeset would do now, and what is in the way. "
        "Nothing is written.",
    )
    def get(self, request: Request, changeset_id: uuid.UUID) -> Response:
        plan = reverting.plan_revert(tenant=self.tenant(), changeset_id=changeset_id)
        return Response(
            {
                "changeset_id": str(plan.changeset.id),
                "reverted_by": _id(plan.reverted_by),
                "conflicts": len(plan.conflicts),
                "steps": [_render_planned(step) for step in plan.steps],
                "erased": [str(fact_id) for fact_id in plan.erased],
            }
        )

    @extend_schema(
        operation_id="revert_changeset",
        request=RevertInput,
        responses={201: ChangesetOutput, 409: Error},
        description="Undoes a changeset by a new one, which is returned and can be reverted too. "
        "409: it is reverted already, or something is in the way and `leave_conflicts` is not "
        "set; `GET` says what." + AGAIN,
    )
    def post(self, request: Request, changeset_id: uuid.UUID) -> Response:
        given = self.read(RevertInput)
        made = reverting.revert_changeset(
            act=self.act(given["reason"]),
            changeset_id=changeset_id,
            leave_conflicts=given["leave_conflicts"],
        )
        return Response(renderings.render_changeset(made), status=201)


def _render_planned(step: reverting.Step) -> dict[str, Any]:
    return {
        "fact_id": str(step.fact.id),
        "fact": step.fact.fact,
        "verdict": step.verdict.value,
        "is_conflict": step.verdict.is_conflict,
        "later": [str(changeset.id) for changeset in step.later],
    }


def _id(changeset: Changeset | None) -> str | None:
    return str(changeset.id) if changeset else None
