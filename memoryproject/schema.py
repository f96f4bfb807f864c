"""What every operation of the API description shares: the key, and how errors look."""

from __future__ import annotations

from typing import Any, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers


class Error(serializers.Serializer[Any]):
    """What went wrong."""

    code = serializers.CharField(help_text="A word for programs.")
    message = serializers.CharField(help_text="A sentence for people.")
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        help_text="What is wrong by the path of the field, such as `message.role`.",
    )


class BearerKey(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes the key; registered by being imported."""

    target_class = "memoryproject.tenancy.authentication.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A key of your tenant."}


class OperationSchema(AutoSchema):
    """Adds to each operation with a key the errors that its kind can answer."""

    def _get_response_bodies(
        self, direction: Literal["request", "response"] = "response"
    ) -> dict[str, Any]:
        responses: dict[str, Any] = super()._get_response_bodies(direction)
        for code in self._error_codes():
            described = self._get_response_for_code(Error, code)  # type: ignore[no-untyped-call]
            responses.setdefault(code, described)
        return responses

    def _error_codes(self) -> list[str]:
        """Return the statuses of errors; a view names those that only it has itself."""
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
