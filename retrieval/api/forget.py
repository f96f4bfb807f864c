"""Forgets what somebody asks to forget: at once served no more, erased once a person confirms."""

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
from retrieval import forgetting
from retrieval.request import CONVERSATION, USER
from semantic import forgetting as facts
from semantic.curation import REASON_AT_MOST, Act

FACTS_AT_MOST = 100


class ForgetInput(fields.Strict):
    """The body of `forget`: a text and where to look, or ids of facts."""

    text = fields.ContentField(
        required=False, max_length=2_000, help_text="What to forget, in words."
    )
    fact_ids = serializers.ListField(
        child=fields.IdField(),
        required=False,
        allow_empty=False,
        max_length=FACTS_AT_MOST,
        help_text="Which facts to forget, instead of a text.",
    )
    scope = fields.WordField(
        choices=(CONVERSATION, USER),
        required=False,
        help_text="Where a text is looked for: in the conversation, or in all of its user's; "
        "absent: in all of the user's if there is one.",
    )
    conversation_id = fields.IdField(required=False)
    user_id = fields.NameField()
    reason = fields.ContentField(required=False, max_length=REASON_AT_MOST)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("text" in attrs) == ("fact_ids" in attrs):
            raise serializers.ValidationError({"text": ["Give a text or fact_ids, one of both."]})
        return attrs


class ForgottenFact(serializers.Serializer[Any]):
    """A fact that is served no more."""

    fact_id = serializers.UUIDField(source="old_fact_id")
    suggestion_id = serializers.UUIDField(source="id")


class ForgetOutput(serializers.Serializer[Any]):
    """What is forgotten from now on."""

    forgotten = ForgottenFact(many=True)


class Forget(KeyedView):
    """Forgets facts, and the messages that say them."""

    for_users = True
    scope = Scope.INGEST

    @describe("forget", ForgetInput, {200: ForgetOutput, 404: Error})
    def post(self, request: Request) -> Response:
        body = self.read(ForgetInput)
        act = Act(self.tenant(), self.actor(), body.get("reason", forgetting.REASON))
        if "fact_ids" in body:
            made = facts.forget(act=act, fact_ids=set(body["fact_ids"]))
        else:
            made = self._forget_text(body, act)
        return Response({"forgotten": ForgottenFact(made, many=True).data})

    def _forget_text(self, body: dict[str, Any], act: Act) -> Any:
        home = None
        if "conversation_id" in body:
            home = queries.get_by_external_id(act.tenant, body["conversation_id"])
        user_id = body.get("user_id", "") or (home.user_id if home else "")
        if body.get("scope") == CONVERSATION:
            user_id = ""
        elif not user_id:
            user_id = walls.choose_user("")
        if not (home or user_id):
            missing = ["Name a user_id or a conversation_id: it says where to look."]
            raise serializers.ValidationError({"user_id": missing})
        users = [user_id] if user_id else []
        return forgetting.forget_text(body["text"], act=act, home=home, users=users)
