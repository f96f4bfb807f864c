"""The call `forget`: hides data from answers at once, and erases it once a person confirms."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic import queries
from memoryproject.edge import fields
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from retrieval.request import CONVERSATION, SCOPES, TENANT, USER
from semantic.curation import REASON_AT_MOST, Act
from wings.forgetting import facts, forgetting
from wings.forgetting.forgetting import Forgotten, Place

FACTS_AT_MOST = 100


class ForgetInput(fields.Strict):
    """The body of `forget`: a text and its scope, or ids of facts."""

    text = fields.ContentField("What to forget, in words.", required=False, max_length=2_000)
    fact_ids = serializers.ListField(
        child=fields.IdField(),
        required=False,
        allow_empty=False,
        max_length=FACTS_AT_MOST,
        help_text="Which facts to forget, instead of a text.",
    )
    scope = fields.WordField(
        "Where a text is looked for: in the conversation, in all that the user has (or in the "
        "conversation if it has none), or in the tenant.",
        choices=SCOPES,
        default=USER,
    )
    conversation_id = fields.IdField(fields.CONVERSATION, required=False)
    user_id = fields.NameField("Whose the conversation is, by your own id; null: nobody was named.")
    reason = fields.ContentField(
        "Why; kept with the changeset.", required=False, max_length=REASON_AT_MOST
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("text" in attrs) == ("fact_ids" in attrs):
            raise serializers.ValidationError({"text": ["Give a text or fact_ids, one of both."]})
        return attrs


class ForgottenFact(serializers.Serializer[Any]):
    """A fact that is no longer served."""

    fact_id = serializers.UUIDField(source="old_fact_id", help_text="The id of a fact.")
    suggestion_id = serializers.UUIDField(
        source="id", help_text="What a person accepts to erase the fact, or declines to restore it."
    )


class ForgetOutput(serializers.Serializer[Any]):
    """What is forgotten."""

    forgotten = ForgottenFact(
        many=True,
        source="suggestions",
        help_text="The facts, each with the suggestion to erase it.",
    )
    note_ids = serializers.ListField(
        child=serializers.UUIDField(), help_text="Notes, which are deleted."
    )


class Forget(KeyedView):
    for_users = True
    scope = Scope.INGEST

    @describe("forget", ForgetInput, {200: ForgetOutput, 404: Error})
    def post(self, request: Request) -> Response:
        """Forget what a user asks to forget.

        The facts that fit the text best, or those that are named, are served no more, nor are the
        messages that say them. Each waits in the review queue as a suggestion `erase`: accepting it
        erases the fact with these messages for good, declining it brings both back. A user's
        message that says so ("Forget that I …") does the same.
        200: What is forgotten from now on; empty: nothing fits.
        404: Your tenant has no such conversation or fact.
        """
        body = self.read(ForgetInput)
        act = Act(self.tenant(), self.actor(), body.get("reason", forgetting.REASON))
        if "fact_ids" in body:
            made = facts.forget(act=act, fact_ids=set(body["fact_ids"]))
            return Response(ForgetOutput(Forgotten(made, [])).data)
        place = self._choose_place(body)
        return Response(
            ForgetOutput(forgetting.forget_text(body["text"], act=act, place=place)).data
        )

    def _choose_place(self, body: dict[str, Any]) -> Place:
        home = None
        if "conversation_id" in body:
            home = queries.get_by_external_id(self.tenant(), body["conversation_id"])
        scope, user_id = body["scope"], body.get("user_id", "")
        if scope == TENANT:
            return Place(self.tenant())
        if scope == CONVERSATION and home is None:
            raise serializers.ValidationError({"conversation_id": ["Name the conversation."]})
        if scope == USER:
            user_id = user_id or (home.user_id if home else walls.choose_user(""))
        if not (user_id or home):
            raise serializers.ValidationError({"user_id": ["Name the user, or a conversation."]})
        return forgetting.choose_place(self.tenant(), user_id if scope == USER else "", home)
