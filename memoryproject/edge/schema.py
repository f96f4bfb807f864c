"""Parts that all operations of the API description share.

The key, the form of errors, and what bodies must not contain.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import force_instance
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers

from memoryproject.edge.fields import CONVERSATION, Strict
from memoryproject.edge.headers import HEADERS, name_header

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

STATUSES = {
    "400": "The request is malformed, or a field is wrong: `fields` says which, and why.",
    "401": "There is no key, or it is not known, was revoked or has expired.",
    "403": "The key lacks the scope that the call needs, or is bound to users and the call is not "
    "for it.",
    "404": "Your tenant has nothing of that id.",
    "413": "Something is over a cap of size; with the code `over_quota` the tenant stores as much "
    "as it may.",
    "415": "The body is not `application/json`, or is compressed.",
    "429": "Too fast, too many calls of the tenant at the same time, or too many messages that "
    "are not processed yet. Nothing was done.",
    "503": "The database or a model is away, or the call took too long. Try again later.",
}
"""The sentence for an answer of a status, where the call has none of its own."""
RETRY_AFTER = {
    "description": "Seconds to wait before the same call is worth another try.",
    "schema": {"type": "string"},
}


class Error(serializers.Serializer[Any]):
    """An error."""

    code = serializers.CharField(help_text="A word for programs.")
    message = serializers.CharField(help_text="A sentence for people.")
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        help_text="What is wrong by the path of the field, such as `message.role`.",
    )


def describe(
    call: str, body: Any = None, answers: Any = None, headers: str = "", **options: Any
) -> Callable[[View], View]:
    """Return the decorator that describes a call: name, body, answers by status, their headers.

    The method's docstring has its texts: a summary, what it does, and, each on a line of its own,
    sentences for answers, such as `409: The fact is not active.`; other statuses have STATUSES.
    """
    parameters = [*options.pop("parameters", ()), *map(describe_header, headers.split())]
    return extend_schema(
        operation_id=call, request=body, responses=answers, parameters=parameters, **options
    )


def describe_header(name: str) -> OpenApiParameter:
    """Return the description of a header that `set_headers` sets."""
    return OpenApiParameter(
        name_header(name),
        location=OpenApiParameter.HEADER,
        description=HEADERS[name],
        response=[200, 201, 202],
    )


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

    def _read_docstring(self) -> tuple[str, str, dict[str, str]]:
        """Return a call's summary, its description, and sentences by status."""
        text = inspect.getdoc(getattr(self.view, self.method.lower())) or ""
        about, *rest = re.split(r"^(\d{3}): ", text, flags=re.MULTILINE)
        summary, _, description = about.partition("\n")
        said = dict(zip(rest[::2], map(_join, rest[1::2]), strict=True))
        return summary.removesuffix("."), _join(description), said

    def get_summary(self) -> str:
        return self._read_docstring()[0]

    def get_description(self) -> str:  # type: ignore[override]
        return self._read_docstring()[1]

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
        operation["description"] = f"{operation.get('description', '')}\n\n{sentence}".lstrip()
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
        said = self._read_docstring()[2]
        for code in said.keys() | (responses.keys() & STATUSES.keys()):
            responses[code]["description"] = said.get(code) or STATUSES[code]
        for code in responses.keys() & {"429", "503"}:
            responses[code]["headers"] = {"Retry-After": RETRY_AFTER}
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


def _join(text: str) -> str:
    """Return a text without its line breaks."""
    return " ".join(text.split())
