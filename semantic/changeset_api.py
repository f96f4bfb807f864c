"""Lists, shows, previews and reverts changesets."""

from __future__ import annotations

import uuid

from django_filters import CharFilter
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.errors import NotFound
from memoryproject.edge.pages import PageFilter, cut_page, page_schema, take_page
from memoryproject.edge.schema import Error
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from semantic import histories, reverts
from semantic.curation_api import AGAIN, Curating
from semantic.forms import ChangesetQuery, RevertInput, StepsQuery
from semantic.models import Changeset
from semantic.renderings import (
    ChangesetOutput,
    DetailedChangeset,
    PlanOutput,
    StepOutput,
    step_values,
)


class ChangesetFilter(PageFilter):
    """Narrows the list of changesets."""

    kind = CharFilter()


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
        return Response(
            take_page(
                rows,
                query=query,
                render=lambda page: list(ChangesetOutput(page, many=True).data),
                filters=ChangesetFilter,
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
        changes = histories.changes_in(
            changeset, after=query.get("after", -1), at_most=query["limit"] + 1
        )
        page, after = cut_page(changes, query["limit"], lambda change: str(change.position))
        revert = reverts.find_revert(changeset)
        return Response(
            {
                **ChangesetOutput(changeset).data,
                "reverted_by": str(revert.id) if revert else None,
                "changes": StepOutput(map(step_values, page), many=True).data,
                "next": after,
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
        plan = reverts.plan_revert(tenant=self.tenant(), changeset_id=changeset_id)
        return Response(PlanOutput(plan).data)

    @extend_schema(
        operation_id="revert_changeset",
        request=RevertInput,
        responses={201: ChangesetOutput, 409: Error},
        description="Undoes a changeset by a new one, which is returned and can be reverted too. "
        "409: it is reverted already, or something is in the way and `leave_conflicts` is not "
        "set; `GET` says what." + AGAIN,
    )
    def post(self, request: Request, changeset_id: uuid.UUID) -> Response:
        body = self.read(RevertInput)
        revert = reverts.revert_changeset(
            act=self.act(body["reason"]),
            changeset_id=changeset_id,
            leave_conflicts=body["leave_conflicts"],
        )
        return Response(ChangesetOutput(revert).data, status=201)
