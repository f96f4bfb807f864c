"""Declaring facts over or wrong, holding them again, correcting them: for keys that curate."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.schema import Error
from memoryproject.tenancy.models import Scope
from memoryproject.views import KeyedView
from semantic import curation, queries, renderings
from semantic.api import find_fact
from semantic.curation import Act
from semantic.engines import Category
from semantic.forms import CorrectInput, CuratedFact, InvalidateInput, Reasoned
from semantic.models import Changeset, Fact

ACTOR_AT_MOST = 200
AGAIN = " Sent again after a lost answer it answers 409 and changes nothing."


class Curating(KeyedView):
    """Does something to facts in the name of the caller's key."""

    scope = Scope.CURATE

    def act(self, reason: str) -> Act:
        """Return who acts, and why."""
        actor = f"key {self.key().name}"[:ACTOR_AT_MOST]
        return Act(tenant=self.tenant(), actor=actor, reason=reason)

    def render(self, fact_id: uuid.UUID, changeset: Changeset) -> dict[str, Any]:
        """Return a fact as the act has left it."""
        fact = find_fact(self.tenant(), fact_id)
        evidence = queries.evidence_of(tenant=self.tenant(), fact_ids=[fact.id])[fact.id]
        return {
            **renderings.render_listed_fact(fact, evidence),
            "version": fact.version,
            "changeset_id": str(changeset.id),
        }


class InvalidateFact(Curating):
    """Stops holding a fact."""

    @extend_schema(
        operation_id="invalidate_fact",
        request=InvalidateInput,
        responses={200: CuratedFact, 409: Error},
        description="Stops holding a fact: it was true until now, or it never was. One that is "
        "wrong is not derived again from the same words until it is restored. 409: it is not "
        "held." + AGAIN,
    )
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        given = self.read(InvalidateInput)
        (changeset,) = curation.invalidate_facts(
            act=self.act(given["reason"]),
            fact_ids=[fact_id],
            because=Fact.Because(given["because"]),
        )
        return Response(self.render(fact_id, changeset))


class RestoreFact(Curating):
    """Holds a fact again."""

    @extend_schema(
        operation_id="restore_fact",
        request=Reasoned,
        responses={200: CuratedFact, 409: Error},
        description="Holds a fact again. What has replaced it stays as it is. 409: it is held, was "
        "erased, or the same sentence is held as another fact." + AGAIN,
    )
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        given = self.read(Reasoned)
        (changeset,) = curation.restore_facts(act=self.act(given["reason"]), fact_ids=[fact_id])
        return Response(self.render(fact_id, changeset))


class ApproveFact(Curating):
    """Holds a fact that waits for a curator."""

    @extend_schema(
        operation_id="approve_fact",
        request=Reasoned,
        responses={200: CuratedFact, 409: Error},
        description="Holds a fact that waits for a curator: from then on it is served. 409: it "
        "does not wait, or the same sentence is held as another fact." + AGAIN,
    )
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        given = self.read(Reasoned)
        (changeset,) = curation.approve_facts(act=self.act(given["reason"]), fact_ids=[fact_id])
        return Response(self.render(fact_id, changeset))


class RejectFact(Curating):
    """Declares a fact wrong that waits for a curator."""

    @extend_schema(
        operation_id="reject_fact",
        request=Reasoned,
        responses={200: CuratedFact, 409: Error},
        description="Declares a fact wrong that waits for a curator: the same words do not bring "
        "it back. 409: it does not wait." + AGAIN,
    )
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        given = self.read(Reasoned)
        (changeset,) = curation.reject_facts(act=self.act(given["reason"]), fact_ids=[fact_id])
        return Response(self.render(fact_id, changeset))


class CorrectFact(Curating):
    """Puts a better sentence in the place of a wrong one."""

    @extend_schema(
        operation_id="correct_fact",
        request=CorrectInput,
        responses={201: CuratedFact, 409: Error},
        description="Closes a fact as wrong, opens a better one on the same evidence, and returns "
        "that. 409: it is not held, has changed since `version`, or the new sentence is held "
        "already." + AGAIN,
    )
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        given = self.read(CorrectInput)
        opened = curation.correct_fact(
            act=self.act(given["reason"]),
            fact_id=fact_id,
            sentence=given["fact"],
            category=Category(given["category"]) if "category" in given else None,
            keywords=given.get("keywords"),
            version=given.get("version"),
        )
        return Response(self.render(opened.id, opened.changeset), status=201)
