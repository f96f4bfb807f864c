"""The form fields that say where to search, and which of them may be combined."""

from collections.abc import Mapping
from typing import Any, cast

from rest_framework import serializers

from memoryproject.edge import fields
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import APIKey, Tenant
from retrieval.request import CONVERSATION, SCOPES, TENANT, USER

DEFAULT = "default_scope"
"""Key, in a tenant's settings and a form's context, of the scope for calls that name none."""


def default_scope(tenant: Tenant, key: APIKey) -> dict[str, Any]:
    """Return the form context with the tenant's default scope for a key's calls."""
    return {DEFAULT: key.default_scope or tenant.settings.get(DEFAULT, CONVERSATION)}


class ScopedInput(fields.Strict):
    """Fields of calls that search one conversation, a user's, or a tenant's."""

    conversation_id = fields.IdField(
        "Where to look, or in which conversation it is asked; needed with the scope "
        "`conversation`.",
        required=False,
    )
    scope = fields.WordField(
        "Whose memories to look through: the conversation's, those of all conversations of its "
        "user, or of the tenant. Default: as the key says, else as the tenant's settings say, "
        "else `conversation`.",
        choices=SCOPES,
        required=False,
    )
    user_id = fields.NameField(
        "With the scope `user`: whose; when absent, whose the conversation is, or the only user "
        "to whom the key is bound."
    )
    agent_id = fields.NameField(
        "With the scopes `user` and `tenant`: only conversations that this agent leads."
    )
    exclude_current = fields.FlagField(
        "With the scopes `user` and `tenant`: leave out the conversation in which it is asked; "
        "its messages are in the prompt already.",
        default=False,
    )

    def to_internal_value(self, value: Any) -> Any:
        missing: dict[str, Any] = {}
        if isinstance(value, Mapping):
            scope = value.get("scope")
            value = {**value, "scope": self.context.get(DEFAULT, CONVERSATION)}
            value["scope"] = value["scope"] if scope is None else scope
            if value["scope"] == CONVERSATION and value.get("conversation_id") is None:
                fault = "null" if "conversation_id" in value else "required"
                missing["conversation_id"] = [self.fields["conversation_id"].error_messages[fault]]
        try:
            checked = super().to_internal_value(value)
        except serializers.ValidationError as error:
            raise serializers.ValidationError(
                {**cast(dict[str, Any], error.detail), **missing}
            ) from None
        if missing:
            raise serializers.ValidationError(missing)
        return checked

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        scope, users = attrs["scope"], walls.get_users() or ()
        attrs.setdefault("conversation_id", None)
        if scope == USER and "user_id" not in attrs and attrs["conversation_id"] is None:
            if len(users) != 1:
                _refuse("user_id", "The scope user needs a user_id, or a conversation_id.")
            attrs["user_id"] = users[0]
        if scope != USER and "user_id" in attrs:
            _refuse("user_id", "This needs the scope user.")
        for name in ("agent_id", "exclude_current"):
            if scope == CONVERSATION and attrs.get(name):
                _refuse(name, "This needs the scope user or tenant.")
        if scope == TENANT and "agent_id" in attrs and users:
            _refuse("agent_id", "This key is bound to users: it needs the scope user.")
        return attrs


def _refuse(field: str, why: str) -> None:
    raise serializers.ValidationError({field: [why]})
