"""What keys that curate may do to facts."""

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge import fields
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from semantic import corrections, curation, queries
from semantic.api import find_fact
from semantic.models import Changeset, Fact
from semantic.renderings import CATEGORIES, ListedFact, render_fact


class Reasoned(fields.Strict):
    """The reason that every act of curation needs."""

    reason = fields.ContentField(
        "Why; kept with the changeset.", max_length=curation.REASON_AT_MOST
    )


class ReasonedByCase(Reasoned):
    """A reason, with the receipt of the answer that led to the act."""

    case_id = fields.IdField(
        "The receipt of the answer that led to it; kept with the reason.", required=False
    )


class InvalidateInput(ReasonedByCase):
    """The body of `facts/{id}/invalidate`."""

    because = fields.WordField(
        "superseded: it was true until now; wrong: it never was, and the same words do not bring "
        "it back.",
        choices=[Fact.Because.SUPERSEDED.value, Fact.Because.WRONG.value],
    )


class CorrectInput(ReasonedByCase):
    """The body of `facts/{id}/correct`."""

    fact = fields.ContentField(
        "The right sentence.", source="sentence", max_length=curation.SENTENCE_AT_MOST
    )
    category = fields.WordField("Absent: as it was.", choices=CATEGORIES, required=False)
    keywords = serializers.ListField(
        child=fields.ContentField(max_length=curation.KEYWORD_AT_MOST),
        max_length=curation.KEYWORDS_AT_MOST,
        required=False,
        help_text="Absent: those that the sentence still holds, and its own names and nouns.",
    )
    version = fields.WholeNumberField(
        "Nothing is done (409) if the fact has changed since it had this one.",
        required=False,
        min_value=1,
    )


class CuratedFact(ListedFact):
    """A fact after an act of curation."""

    version = fields.Column("Raised by each change of state, from 1.")
    changeset_id = fields.Column("The act; revert it to undo it.")


class Curating(KeyedView):
    """Changes facts in the name of the caller's key."""

    scope = Scope.CURATE

    def take_act(self, body: dict[str, Any]) -> curation.Act:
        """Return who acts, and why; the reason is taken out of the body."""
        reason, case_id = body.pop("reason"), body.pop("case_id", None)
        return curation.Act(self.tenant(), self.actor(), reason, case_id)

    def render_fact(self, fact_id: uuid.UUID, changeset: Changeset, status: int = 200) -> Response:
        """Return a fact as the act has left it."""
        fact = find_fact(self.tenant(), fact_id)
        evidence = queries.evidence_of(tenant=self.tenant(), fact_ids=[fact.id])[fact.id]
        body = render_fact(fact, evidence, CuratedFact, changeset_id=changeset.id)
        return Response(body, status=status)

    def change(
        self,
        change: Callable[..., Sequence[Changeset]],
        fact_id: uuid.UUID,
        form: type[Reasoned] = Reasoned,
    ) -> Response:
        """Apply a change to a fact; the body, checked by `form`, has its reason and options."""
        body = self.read(form)
        (changeset,) = change(act=self.take_act(body), fact_ids=[fact_id], **body)
        return self.render_fact(fact_id, changeset)


CHANGED = {200: CuratedFact, 409: Error}


class InvalidateFact(Curating):
    @describe("invalidate_fact", InvalidateInput, CHANGED)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        """Retire a fact.

        Retires a fact: it was true until now, or it never was. One that is wrong is not derived
        again from the same words until it is restored. Sent again after a lost answer it answers
        409 and changes nothing.
        200: The fact, which is retired now.
        409: The fact is not active.
        """
        return self.change(curation.invalidate_facts, fact_id, form=InvalidateInput)


class RestoreFact(Curating):
    @describe("restore_fact", Reasoned, CHANGED)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        """Restore a fact.

        Restores a fact. What has replaced it stays as it is. Sent again after a lost answer it
        answers 409 and changes nothing.
        200: The fact, which is active again.
        409: The fact is active, pending review or erased, or its sentence is active as another
            fact.
        """
        return self.change(curation.restore_facts, fact_id)


class ApproveFact(Curating):
    @describe("approve_fact", Reasoned, CHANGED)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        """Approve a fact that is pending review.

        Approves a fact that is pending review: from then on it is served. Sent again after a lost
        answer it answers 409 and changes nothing.
        200: The fact, which is active now.
        409: The fact is not pending review, or its sentence is active as another fact.
        """
        return self.change(curation.approve_facts, fact_id)


class RejectFact(Curating):
    @describe("reject_fact", Reasoned, CHANGED)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        """Reject a fact that is pending review.

        Rejects a fact that is pending review: the same words do not bring it back. Sent again after
        a lost answer it answers 409 and changes nothing.
        200: The fact, which is retired as wrong now.
        409: The fact is not pending review.
        """
        return self.change(curation.reject_facts, fact_id)


class CorrectFact(Curating):
    @describe("correct_fact", CorrectInput, {201: CuratedFact, 409: Error})
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        """Correct a fact.

        Closes a fact as wrong, opens a better one, and returns that. Its evidence is the act, and
        messages that do not say the old. What still says the old is marked in answers
        (`facts/{id}/marks`). Sent again after a lost answer it answers 409 and changes nothing.
        201: The new fact; the old one is retired as wrong.
        409: The fact is not active or not of that `version`, or the sentence is its own or that of
            another active fact.
        """
        body = self.read(CorrectInput)
        act = self.take_act(body)
        corrected = corrections.correct_fact(act=act, fact_id=fact_id, **body)
        return self.render_fact(corrected.id, corrected.changeset, status=201)
