"""Base of all views for callers with a key."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from memoryproject.edge import replicas
from memoryproject.edge.pages import PlaceQuery, take_page
from memoryproject.edge.web_pool import declared_bytes
from memoryproject.process import traces
from memoryproject.tenancy import limits, reading
from memoryproject.tenancy.models import APIKey, Scope, Tenant
from memoryproject.tenancy.reading import Reading

ACTOR_AT_MOST = 200
Input = TypeVar("Input", bound="Serializer[Any]")
Result = TypeVar("Result")


@cache
def _get_fields(form: type[Serializer[Any]]) -> Any:
    """Return a form's fields, cached: Django REST framework would rebuild them for each call."""
    return form().fields


class KeyedView(APIView):
    """A view for callers with a key. `scope` is the scope that the key needs."""

    scope: Scope
    writing_scope: Scope | None = None
    """Scope that a key needs for changes, if the same address can also be read."""
    _reading: Reading | None = None
    memory_operations: Mapping[str, str] = {}
    """OpenTelemetry's name of the call's memory operation, by HTTP method."""

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        operation = self.memory_operations.get(request.method)
        if operation is None:
            return super().dispatch(request, *args, **kwargs)
        with traces.span(operation, {traces.OPERATION: operation}):
            return super().dispatch(request, *args, **kwargs)

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Tell which server was read; after a write, note that the key must see it."""
        replicas.name_source(response, self._reading.source if self._reading else None)
        is_done = response.status_code < 400 and request.method not in SAFE_METHODS
        if is_done and self.needs(request.method) is not Scope.READ:
            reading.note_write(self.key())
        return super().finalize_response(request, response, *args, **kwargs)

    for_users: bool = False
    """Whether keys bound to users may call it: then everything it reads comes through `of`."""

    def needs(self, method: str) -> Scope:
        if self.writing_scope is None or method in SAFE_METHODS:
            return self.scope
        return self.writing_scope

    def answers_without_database(self) -> bool:
        """Whether the call has some answer while the database is unavailable."""
        return False

    def perform_authentication(self, request: Request) -> None:
        """Identify the caller, and take the call from the limits of its key and tenant.

        This precedes the check of the scope, so refused calls count.

        Raises:
            TooFast: they have called too often; answered with 429.
        """
        super().perform_authentication(request)
        if self.memory_operations:
            traces.describe({traces.STORE: str(self.key().tenant_id)})
        try:
            limits.take_call(self.key(), body_bytes=declared_bytes(request.META))
        except (OperationalError, InterfaceError):
            if not self.answers_without_database():
                raise

    def key(self) -> APIKey:
        return cast(APIKey, self.request.auth)

    def tenant(self) -> Tenant:
        return self.key().tenant

    def reading(self) -> Reading:
        """Return the reading context of this call."""
        if self._reading is None:
            self._reading = Reading(self.tenant(), self.key())
        return self._reading

    def actor(self) -> str:
        return f"key {self.key().name}"[:ACTOR_AT_MOST]

    def read(self, form: type[Input], source: Any = None, **options: Any) -> dict[str, Any]:
        """Return the checked input; `options` are the form's.

        Raises:
            ValidationError: what is wrong, by field; answered with 400.
        """
        checked = form(data=self.request.data if source is None else source, **options)
        vars(checked)["fields"] = _get_fields(form)
        checked.is_valid(raise_exception=True)
        return cast(dict[str, Any], checked.validated_data)

    def read_query(self, form: type[Input]) -> dict[str, Any]:
        """Return the checked query string; raises as `read` does."""
        return self.read(form, self.request.query_params.dict())

    def list_page(
        self,
        rows: QuerySet[Any],
        item: type[Serializer[Any]],
        query: Mapping[str, Any] | None = None,
    ) -> Response:
        """Answer with a page of the rows, filtered by the query string and rendered by `item`."""
        query = query or self.read_query(PlaceQuery)
        return self.take_page(rows, query, lambda page: list(item(page, many=True).data))

    def take_page(
        self, rows: QuerySet[Any], query: Mapping[str, Any], render: Callable[[Any], list[Any]]
    ) -> Response:
        """Answer with a page of rows, from a server that is recent enough for the key."""
        return Response(self.read_rows(lambda: take_page(rows, query=query, render=render)))

    def read_rows(self, work: Callable[[], Result]) -> Result:
        """Return the result of read-only work, from a replica if possible."""
        return self.reading().read(work)


class ReadView(KeyedView):
    scope = Scope.READ
