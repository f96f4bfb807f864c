"""Invalidates, restores, approves, rejects and corrects facts, for keys that curate."""

import uuid
from collections.abc import Callable, Sequence

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.fields import ContentField, IdField, Strict, WholeNumberField, WordField
from memoryproject.edge.schema import Error
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from semantic import corrections, curation, queries
from semantic.api import find_fact
from semantic.curation import (
    KEYWORD_AT_MOST,
    KEYWORDS_AT_MOST,
    REASON_AT_MOST,
    SENTENCE_AT_MOST,
    Act,
)
from semantic.engines import Category
from semantic.models import Changeset, Fact
from semantic.renderings import CATEGORIES, ListedFact, render_fact


class Reasoned(Strict):
    """What every act of curation says."""

    reason = ContentField(max_length=REASON_AT_MOST)


class ReasonedByCase(Reasoned):
    """What an act says that an answer may have led to."""

    case_id = IdField(required=False)


class InvalidateInput(ReasonedByCase):
    """The body of `facts/{id}/invalidate`."""

    because = WordField(choices=[Fact.Because.SUPERSEDED.value, Fact.Because.WRONG.value])


class CorrectInput(ReasonedByCase):
    """The body of `facts/{id}/correct`."""

    fact = ContentField(max_length=SENTENCE_AT_MOST)
    category = WordField(choices=CATEGORIES, required=False)
    keywords = serializers.ListField(
        child=ContentField(max_length=KEYWORD_AT_MOST), max_length=KEYWORDS_AT_MOST, required=False
    )
    version = WholeNumberField(required=False, min_value=1)


class CuratedFact(ListedFact):
    """A fact after an act of curation."""

    columns = "version changeset_id"


class Curating(KeyedView):
    """Changes facts in the name of the caller's key."""

    scope = Scope.CURATE

    def act(self, reason: str, *, case_id: uuid.UUID | None = None) -> Act:
        """Return who acts, and why."""
        return Act(tenant=self.tenant(), actor=self.actor(), reason=reason, case_id=case_id)

    def render_fact(self, fact_id: uuid.UUID, changeset: Changeset, status: int = 200) -> Response:
        """Return a fact as the act has left it."""
        fact = find_fact(self.tenant(), fact_id)
        evidence = queries.evidence_of(tenant=self.tenant(), fact_ids=[fact.id])[fact.id]
        external_id = fact.conversation.external_id
        body = render_fact(fact, external_id, evidence, CuratedFact, changeset_id=changeset.id)
        return Response(body, status=status)

    def change(
        self,
        change: Callable[..., Sequence[Changeset]],
        fact_id: uuid.UUID,
        form: type[Reasoned] = Reasoned,
    ) -> Response:
        """Do to a fact what the body, checked by `form`, gives a reason and options for."""
        body = self.read(form)
        act = self.act(body.pop("reason"), case_id=body.pop("case_id", None))
        (changeset,) = change(act=act, fact_ids=[fact_id], **body)
        return self.render_fact(fact_id, changeset)


CHANGED = {200: CuratedFact, 409: Error}


class InvalidateFact(Curating):
    """Retires a fact."""

    @extend_schema(operation_id="invalidate_fact", request=InvalidateInput, responses=CHANGED)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        return self.change(curation.invalidate_facts, fact_id, form=InvalidateInput)


class RestoreFact(Curating):
    """Restores a fact."""

    @extend_schema(operation_id="restore_fact", request=Reasoned, responses=CHANGED)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        return self.change(curation.restore_facts, fact_id)


class ApproveFact(Curating):
    """Approves a fact in the review queue."""

    @extend_schema(operation_id="approve_fact", request=Reasoned, responses=CHANGED)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        return self.change(curation.approve_facts, fact_id)


class RejectFact(Curating):
    """Rejects a fact in the review queue."""

    @extend_schema(operation_id="reject_fact", request=Reasoned, responses=CHANGED)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        return self.change(curation.reject_facts, fact_id)


class CorrectFact(Curating):
    """Puts a better sentence in the place of a wrong one."""

    @extend_schema(
        operation_id="correct_fact", request=CorrectInput, responses={201: CuratedFact, 409: Error}
    )
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        body = self.read(CorrectInput)
        corrected = corrections.correct_fact(
            act=self.act(body["reason"], case_id=body.get("case_id")),
            fact_id=fact_id,
            sentence=body["fact"],
            category=Category(body["category"]) if "category" in body else None,
            keywords=body.get("keywords"),
            version=body.get("version"),
        )
        return self.render_fact(corrected.id, corrected.changeset, status=201)
