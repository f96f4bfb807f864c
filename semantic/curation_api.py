"""What keys that curate may do: act on facts, decide on marks and on suggestions."""

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.database.constraints import values_of
from memoryproject.edge import fields
from memoryproject.edge.pages import PageQuery, describe_page
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView, ReadView
from semantic import corrections, curation, queries
from semantic.api import find_fact
from semantic.engines import SuggestionKind
from semantic.models import Changeset, CorrectionMark, Fact, Suggestion
from semantic.renderings import CATEGORIES, ListedFact, render_fact
from wings.forgetting import facts as forgetting
from wings.marks import marking
from wings.marks.correction_marks import list_marks
from wings.suggestions import suggestions

MARKS_AT_MOST = 500


class Reasoned(fields.Strict):
    """What every act of curation says."""

    reason = fields.ContentField(max_length=curation.REASON_AT_MOST)


class ReasonedByCase(Reasoned):
    """What an act says that an answer may have led to."""

    case_id = fields.IdField(required=False)


class InvalidateInput(ReasonedByCase):
    """The body of `facts/{id}/invalidate`."""

    because = fields.WordField(choices=[Fact.Because.SUPERSEDED.value, Fact.Because.WRONG.value])


class CorrectInput(ReasonedByCase):
    """The body of `facts/{id}/correct`."""

    fact = fields.ContentField(source="sentence", max_length=curation.SENTENCE_AT_MOST)
    category = fields.WordField(choices=CATEGORIES, required=False)
    keywords = serializers.ListField(
        child=fields.ContentField(max_length=curation.KEYWORD_AT_MOST),
        max_length=curation.KEYWORDS_AT_MOST,
        required=False,
    )
    version = fields.WholeNumberField(required=False, min_value=1)


class CuratedFact(ListedFact):
    """A fact after an act of curation."""

    columns = "version changeset_id"


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
        """Do to a fact what the body, checked by `form`, gives a reason and options for."""
        body = self.read(form)
        (changeset,) = change(act=self.take_act(body), fact_ids=[fact_id], **body)
        return self.render_fact(fact_id, changeset)


CHANGED = {200: CuratedFact, 409: Error}


class InvalidateFact(Curating):
    """Retires a fact."""

    @describe("invalidate_fact", InvalidateInput, CHANGED)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        return self.change(curation.invalidate_facts, fact_id, form=InvalidateInput)


class RestoreFact(Curating):
    """Restores a fact."""

    @describe("restore_fact", Reasoned, CHANGED)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        return self.change(curation.restore_facts, fact_id)


class ApproveFact(Curating):
    """Approves a fact in the review queue."""

    @describe("approve_fact", Reasoned, CHANGED)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        return self.change(curation.approve_facts, fact_id)


class RejectFact(Curating):
    """Rejects a fact in the review queue."""

    @describe("reject_fact", Reasoned, CHANGED)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        return self.change(curation.reject_facts, fact_id)


class CorrectFact(Curating):
    """Puts a better sentence in the place of a wrong one."""

    @describe("correct_fact", CorrectInput, {201: CuratedFact, 409: Error})
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        body = self.read(CorrectInput)
        act = self.take_act(body)
        corrected = corrections.correct_fact(act=act, fact_id=fact_id, **body)
        return self.render_fact(corrected.id, corrected.changeset, status=201)


class MarkOutput(fields.Output):
    """A place that still says what a retired fact said."""

    table = CorrectionMark
    columns = "id fact_id place place_id found_by state decided_by decided_at changeset_id"


class MarksOutput(fields.Output):
    """All marks of a fact."""

    marks = MarkOutput(many=True)


class MarksInput(Reasoned):
    """The body of `facts/{id}/marks`."""

    mark_ids = serializers.ListField(
        child=fields.IdField(), allow_empty=False, max_length=MARKS_AT_MOST
    )
    decision = fields.WordField(choices=list(marking.DECISIONS))


class Marks(Curating):
    """Lists the marks of a fact, and decides on them."""

    scope = Scope.READ
    writing_scope = Scope.CURATE

    @describe("list_marks", answers=MarksOutput)
    def get(self, request: Request, fact_id: uuid.UUID) -> Response:
        return self._render(find_fact(self.tenant(), fact_id))

    @describe("decide_marks", MarksInput, MarksOutput)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        body = self.read(MarksInput)
        fact = find_fact(self.tenant(), fact_id)
        marking.decide(act=self.take_act(body), fact=fact, **body)
        return self._render(fact)

    def _render(self, fact: Fact) -> Response:
        return Response({"marks": MarkOutput(list_marks(fact), many=True).data})


class SuggestedFact(fields.Output):
    """A fact that a suggestion is about."""

    table, columns = Fact, "id fact category valid_at created_at invalid_at"


class SuggestionOutput(fields.Output):
    """Two facts that look like a contradiction or a duplicate."""

    table = Suggestion
    columns = (
        "id conversation_id kind reason old new changeset_id created_at open decision decided_by"
    )
    conversation_id = serializers.UUIDField(source="conversation.external_id")
    old = SuggestedFact(source="old_fact")
    new = SuggestedFact(source="new_fact", allow_null=True)
    open = serializers.BooleanField(source="is_open")


class SuggestionQuery(PageQuery):
    kind = fields.WordField(choices=values_of(SuggestionKind), required=False)
    open = fields.WordField(choices=["true", "false"], default="true")


class DecisionInput(fields.Strict):
    """The body of `suggestions/{id}/accept` and `decline`; it may be left out."""

    reason = fields.ContentField(required=False, max_length=curation.REASON_AT_MOST)


DECIDED = {200: SuggestionOutput, 409: Error}


class Suggestions(ReadView):
    """Lists suggestions, newest first."""

    @describe_page("list_suggestions", SuggestionQuery, SuggestionOutput, "SuggestionPage")
    def get(self, request: Request) -> Response:
        query = self.read_query(SuggestionQuery)
        rows = suggestions.find_suggestions(self.tenant(), is_open=query.pop("open") == "true")
        return self.list_page(rows, SuggestionOutput, query)


class DecisionView(Curating):
    """Takes a decision on a suggestion."""

    def decide(
        self, decide: Callable[..., Suggestion], suggestion_id: uuid.UUID, reason: str
    ) -> Response:
        """Accept or decline; `reason` is written down where the caller has none."""
        act = self.take_act({"reason": reason, **self.read(DecisionInput)})
        return Response(SuggestionOutput(decide(act=act, suggestion_id=suggestion_id)).data)


class AcceptSuggestion(DecisionView):
    """Does what a suggestion says."""

    @describe("accept_suggestion", DecisionInput, DECIDED)
    def post(self, request: Request, suggestion_id: uuid.UUID) -> Response:
        if forgetting.find_request(self.tenant(), suggestion_id) and not self.may_erase():
            raise PermissionDenied("Erasing for good needs a key with the scope admin.")
        return self.decide(forgetting.accept_suggestion, suggestion_id, "Accepted a suggestion.")

    def may_erase(self) -> bool:
        """Return whether the caller may delete for good."""
        return Scope.ADMIN in self.key().scopes


class DeclineSuggestion(DecisionView):
    """Leaves both facts as they are, or restores what a user asked to forget."""

    @describe("decline_suggestion", DecisionInput, DECIDED)
    def post(self, request: Request, suggestion_id: uuid.UUID) -> Response:
        return self.decide(forgetting.decline_suggestion, suggestion_id, "Declined a suggestion.")
