"""Lists suggestions, and decides on them."""

import uuid
from collections.abc import Callable

from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.database.constraints import values_of
from memoryproject.edge import fields
from memoryproject.edge.pages import PageQuery, describe_page
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import ReadView
from semantic import curation
from semantic.curation_api import Curating
from semantic.engines import SuggestionKind
from semantic.models import Fact, Suggestion
from wings.forgetting import facts as forgetting
from wings.suggestions import suggestions


class SuggestedFact(fields.Output):
    """A fact that a suggestion is about."""

    table = Fact
    id = fields.Column("The id of the fact.")
    fact = fields.Column("The fact: one sentence that can be understood by itself.")
    category = fields.Column("One of the eight categories of facts.")
    valid_at = fields.Column("From when on it was true.")
    created_at = fields.Column("When the server began to believe it.")
    invalid_at = fields.Column("null: active.")


class SuggestionOutput(fields.Output):
    """Two facts that may be a contradiction or a duplicate."""

    table = Suggestion
    id = fields.Column("The id of the suggestion.")
    conversation_id = fields.Column(fields.CONVERSATION, "conversation.external_id")
    kind = fields.Column(
        "What the two facts look like: one contradicts the other, or repeats it. `erase`: a user "
        "asked to forget the old one."
    )
    reason = fields.Column("The code of the rule that saw it: near_words, cap, …")
    old = SuggestedFact(
        source="old_fact", help_text="The older fact, which accepting a contradiction retires."
    )
    new = SuggestedFact(
        source="new_fact", allow_null=True, help_text="null: nothing takes the old one's place."
    )
    changeset_id = fields.Column("The run that made it.")
    created_at = fields.Column("When it was suggested.")
    open = fields.Column(
        "Whether both facts are active (one to erase: forgotten), and no decision on it "
        "is in effect.",
        "is_open",
    )
    decision = fields.Column("What was decided; null: nothing yet.")
    decided_by = fields.Column("The changeset of the decision; revert it to undo it.")


class SuggestionQuery(PageQuery):
    kind = fields.WordField(
        "Only those of this kind.", choices=values_of(SuggestionKind), required=False
    )
    open = fields.WordField(
        "Those pending a decision, or the others.", choices=["true", "false"], default="true"
    )


class DecisionInput(fields.Strict):
    """The body of `suggestions/{id}/accept` and `decline`; it may be left out."""

    reason = fields.ContentField(
        "Why; kept with the changeset.", required=False, max_length=curation.REASON_AT_MOST
    )


DECIDED = {200: SuggestionOutput, 409: Error}


class Suggestions(ReadView):
    @describe_page("list_suggestions", SuggestionQuery, SuggestionOutput, "SuggestionPage")
    def get(self, request: Request) -> Response:
        """List suspected contradictions and duplicates.

        Facts that look as if one contradicted or repeated the other: nothing is closed until
        somebody accepts. Meanwhile both are active, and answers have the newer of two that seem to
        contradict each other first.
        200: A page of suggestions.
        """
        query = self.read_query(SuggestionQuery)
        rows = suggestions.find_suggestions(self.tenant(), is_open=query.pop("open") == "true")
        return self.list_page(rows, SuggestionOutput, query)


class DecisionView(Curating):
    """Takes a decision on a suggestion."""

    def decide(
        self, decide: Callable[..., Suggestion], suggestion_id: uuid.UUID, reason: str
    ) -> Response:
        """Accept or decline; `reason` is recorded if the caller gives none."""
        act = self.take_act({"reason": reason, **self.read(DecisionInput)})
        return Response(SuggestionOutput(decide(act=act, suggestion_id=suggestion_id)).data)


class AcceptSuggestion(DecisionView):
    @describe("accept_suggestion", DecisionInput, DECIDED)
    def post(self, request: Request, suggestion_id: uuid.UUID) -> Response:
        """Accept a suggestion.

        Closes the old fact as superseded by the new one; of duplicates the shorter one, whose
        evidence the other takes over. Revert the changeset `decided_by` to undo it. Sent again
        after a lost answer it answers 409 and changes nothing.
        200: The suggestion with the decision.
        409: The suggestion is not open any more.
        """
        if forgetting.find_request(self.tenant(), suggestion_id) and not self.may_erase():
            raise PermissionDenied("Erasing for good needs a key with the scope admin.")
        return self.decide(forgetting.accept_suggestion, suggestion_id, "Accepted a suggestion.")

    def may_erase(self) -> bool:
        """Return whether the caller may erase permanently."""
        return Scope.ADMIN in self.key().scopes


class DeclineSuggestion(DecisionView):
    @describe("decline_suggestion", DecisionInput, DECIDED)
    def post(self, request: Request, suggestion_id: uuid.UUID) -> Response:
        """Decline a suggestion.

        Leaves both facts active; they are not suggested again. Revert the changeset `decided_by` to
        undo it. Sent again after a lost answer it answers 409 and changes nothing.
        200: The suggestion with the decision.
        409: The suggestion is not open any more.
        """
        return self.decide(forgetting.decline_suggestion, suggestion_id, "Declined a suggestion.")
