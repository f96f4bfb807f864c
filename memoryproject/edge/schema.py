"""Parts that all operations of the API description share.

The key, the form of errors, and what bodies must not contain.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import force_instance
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from memoryproject.edge.fields import CONVERSATION, Strict
from memoryproject.edge.reference import CALLS

View = TypeVar("View", bound=Callable[..., Any])

PATH = {
    "context_id": "The id of a context, from `POST contexts`.",
    "conversation_id": CONVERSATION,
    "event_id": "The id of an event, from `GET webhooks/{id}/events`.",
    "memory_id": "The id of a memory: an episode, a fact or a note.",
    "retrieval_id": "The id of a receipt, as `Memory-Receipt` names it.",
    "test_id": "The id of a memory test, from `GET memory_tests`.",
}
"""What ids in paths mean; the others are the ids of what they name."""


class Error(serializers.Serializer[Any]):
    """An error."""

    code = serializers.CharField(help_text="A word for programs.")
    message = serializers.CharField(help_text="A sentence for people.")
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        help_text="What is wrong by the path of the field, such as `message.role`.",
    )


def describe(
    call: str, body: Any = None, answers: Any = None, **options: Any
) -> Callable[[View], View]:
    """Return the decorator that describes a call: name, body, and answers by status."""
    return extend_schema(operation_id=call, request=body, responses=answers, **options)


class BearerKey(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes the API key; importing it registers it."""

    target_class = "memoryproject.tenancy.authentication.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A key of your tenant."}


class OperationSchema(AutoSchema):
    """Adds to each operation with a key the errors that its kind can answer.

    Also describes that bodies refuse unknown fields and empty lists, and that null in an optional
    field means absent.
    """

    _reads_query = False

    def get_description(self) -> str:  # type: ignore[override]
        """Return the reference's description of the call, else that of the view."""
        text = CALLS.get(self.get_operation_id(), {}).get("description")
        return text or super().get_description()

    def get_operation(self, *args: Any, **options: Any) -> Any:
        """Return the operation with its scope, as data and as a sentence."""
        operation = super().get_operation(*args, **options)
        view: Any = self.view
        if operation is None or not view.get_authenticators():
            return operation
        # As `HasScope` finds it; a view without that class needs none.
        needed = [str(view.needs(self.method))] if view.get_permissions() else []
        operation["security"] = [{"key": needed}]
        sentence = f"Needs the scope `{needed[0]}`." if needed else "Needs a key, but no scope."
        operation["description"] = f"{operation['description']}\n\n{sentence}"
        return operation

    def _resolve_path_parameters(self, variables: list[str]) -> list[dict[str, Any]]:
        parameters: list[dict[str, Any]] = super()._resolve_path_parameters(variables)  # type: ignore[no-untyped-call]
        for one in parameters:
            word = one["name"].removesuffix("_id")
            article = "an" if word[0] in "aeiou" else "a"
            one["description"] = PATH.get(one["name"], f"The id of {article} {word}.")
        return parameters

    def _process_override_parameters(self, direction: str = "request") -> Any:
        self._reads_query = True
        try:
            return super()._process_override_parameters(direction)  # type: ignore[no-untyped-call]
        finally:
            self._reads_query = False

    def _map_basic_serializer(self, serializer: Any, direction: str) -> dict[str, Any]:
        serializer = force_instance(serializer)  # type: ignore[no-untyped-call]
        is_body = isinstance(serializer, Strict) and not self._reads_query
        if is_body:
            for field in serializer.fields.values():
                field.allow_null = not field.required
        mapped: dict[str, Any] = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        if is_body:
            mapped["additionalProperties"] = False
            gone = {"description": "Passed over, whatever it is."}
            mapped["properties"] |= dict.fromkeys(sorted(serializer.ignored), gone)
        return mapped

    def _map_serializer_field(
        self, field: Any, direction: str, bypass_extensions: bool = False
    ) -> dict[str, Any]:
        mapped: dict[str, Any] = super()._map_serializer_field(  # type: ignore[no-untyped-call]
            field, direction, bypass_extensions
        )
        if mapped and getattr(field, "allow_empty", True) is False:
            mapped["minItems"] = 1
        return mapped

    def _get_response_bodies(
        self, direction: Literal["request", "response"] = "response"
    ) -> dict[str, Any]:
        responses: dict[str, Any] = super()._get_response_bodies(direction)
        for code in self._error_codes():
            described = self._get_response_for_code(Error, code)  # type: ignore[no-untyped-call]
            responses.setdefault(code, described)
        return responses

    def _error_codes(self) -> list[str]:
        """Return the statuses of errors; a view adds those that only it has."""
        if not self.view.get_authenticators():
            return []
        codes = ["401", "403", "429", "503"]
        if "{" in self.path:
            codes.append("404")
        if any(parameter["in"] == "query" for parameter in self._get_parameters()):
            codes.append("400")
        if self.method != "GET" and self.get_request_serializer():
            codes += ["400", "413", "415"]
        return sorted(codes)
