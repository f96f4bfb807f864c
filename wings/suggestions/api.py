"""Lists suggestions, and decides on them."""

import uuid
from collections.abc import Callable

from rest_framework import serializers
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

    table, columns = Fact, "id fact category valid_at created_at invalid_at"


class SuggestionOutput(fields.Output):
    """Two facts that may be a contradiction or a duplicate."""

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
        """Accept or decline; `reason` is recorded if the caller gives none."""
        act = self.take_act({"reason": reason, **self.read(DecisionInput)})
        return Response(SuggestionOutput(decide(act=act, suggestion_id=suggestion_id)).data)


class AcceptSuggestion(DecisionView):
    """Applies a suggestion."""

    @describe("accept_suggestion", DecisionInput, DECIDED)
    def post(self, request: Request, suggestion_id: uuid.UUID) -> Response:
        if forgetting.find_request(self.tenant(), suggestion_id) and not self.may_erase():
            raise PermissionDenied("Erasing for good needs a key with the scope admin.")
        return self.decide(forgetting.accept_suggestion, suggestion_id, "Accepted a suggestion.")

    def may_erase(self) -> bool:
        """Return whether the caller may erase permanently."""
        return Scope.ADMIN in self.key().scopes


class DeclineSuggestion(DecisionView):
    """Leaves both facts as they are, or restores a fact that a user asked to forget."""

    @describe("decline_suggestion", DecisionInput, DECIDED)
    def post(self, request: Request, suggestion_id: uuid.UUID) -> Response:
        return self.decide(forgetting.decline_suggestion, suggestion_id, "Declined a suggestion.")
