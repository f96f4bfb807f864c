"""Parses strict JSON requests, and renders all errors in one form."""

import json
import logging
import math
import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

from django.conf import settings
from django.core.exceptions import (
    DisallowedHost,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.deprecation import MiddlewareMixin
from django.utils.html import format_html
from psycopg.errors import QueryCanceled, UndefinedColumn, UndefinedTable
from rest_framework import exceptions
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.response import Response

from memoryproject.database.errors import UnsafeDatabase
from memoryproject.edge import deadlines
from memoryproject.edge.errors import RETRY_AFTER_S, NotNow, Problem, TooLarge, Unavailable
from memoryproject.edge.web_pool import API_PREFIX, BUSY, REFUSAL, body_limit, declared_bytes
from memoryproject.process import logs

logger = logging.getLogger("memory.http")

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
DEPTH_AT_MOST = 100
"""Deepest nesting of JSON: whatever we accept, we and PostgreSQL must be able to write."""
VALUES_AT_MOST = 100_000
"""Largest number of values in JSON, at all depths: each needs far more memory than its bytes."""
STRINGS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
"""Strings in JSON, even unfinished ones: otherwise the pattern would restart at every quote."""
TOO_LARGE = "too_large"
AWAY = "The database is away or read-only; try again soon."


class JSONWhateverIsAsked(BaseContentNegotiation):
    """Renders one format per call, whatever the Accept header says.

    Only the OpenAPI description has two, between which `?format=` chooses.
    """

    def select_parser(self, request: Any, parsers: Any) -> Any:
        wanted = (request.content_type or "").split(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == wanted), None)

    def select_renderer(
        self, request: Any, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        wanted = request.query_params.get("format")
        chosen = next((one for one in renderers if one.format == wanted), renderers[0])
        return chosen, chosen.media_type


class StrictJSONParser(BaseParser):
    """Parses standard JSON: UTF-8, no NaN, no duplicate names, only storable text."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        body = stream.read(settings.MAX_BODY_BYTES + 1)
        if len(body) > settings.MAX_BODY_BYTES:
            raise TooLarge(f"The body is over {settings.MAX_BODY_BYTES} bytes.")
        try:
            text = body.decode("utf-8")
            check_count(text)
            parsed = json.loads(
                text,
                parse_constant=_refuse_constant,
                parse_float=_read_finite,
                object_pairs_hook=_refuse_duplicates,
            )
            check_values(parsed)
        except UnicodeDecodeError as error:
            raise exceptions.ParseError("The body is not valid UTF-8.") from error
        except RecursionError as error:
            raise exceptions.ParseError("The JSON is nested too deeply.") from error
        except ValueError as error:
            raise exceptions.ParseError("The body is not valid JSON.") from error
        return parsed


def _refuse_constant(name: str) -> None:
    raise exceptions.ParseError("NaN and Infinity are not JSON.")


def _read_finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise exceptions.ParseError("A number is too large.")
    return number


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise exceptions.ParseError("An object names a field twice.")
    return fields


def check_count(text: str) -> None:
    """Raise TooLarge if a JSON text has more than VALUES_AT_MOST values.

    Checked before parsing. Strings are left out if they could matter.
    """
    if _count_signs(text) <= VALUES_AT_MOST:
        return
    if _count_signs(STRINGS.sub("", text)) > VALUES_AT_MOST:
        raise TooLarge(f"The body holds more than {VALUES_AT_MOST} values.")


def _count_signs(text: str) -> int:
    """Count the signs that a value may follow: commas and opening brackets."""
    return text.count(",") + text.count("[") + text.count("{")


def check_values(parsed: Any) -> None:
    """Raise ParseError if a text cannot be stored: with NUL, or half of a surrogate pair.

    It is raised, too, where more than DEPTH_AT_MOST levels are nested.
    """
    level = [parsed]
    for _ in range(DEPTH_AT_MOST + 1):
        if any(isinstance(item, str) and UNSTORABLE.search(item) for item in level):
            raise exceptions.ParseError("A text holds NUL or half a surrogate pair.")
        lists = [item for item in level if isinstance(item, list)]
        objects = [item for item in level if isinstance(item, dict)]
        if not lists and not objects:
            return
        level = [*chain(*lists), *chain(*objects), *chain(*(item.values() for item in objects))]
    raise exceptions.ParseError("The JSON is nested too deeply.")


def error_body(
    code: str, message: str, fields: Mapping[str, list[str]] | None = None
) -> dict[str, Any]:
    return {"code": code, "message": message, "fields": dict(fields or {})}


def render_error(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Return the response for an exception of a view; None lets it pass as a 500."""
    if isinstance(error.__cause__, QueryCanceled):
        error = Unavailable(deadlines.LATE)
    elif is_away(error) and not isinstance(error, Problem):
        logger.warning("database away", extra=logs.describe_error(error))
        error = Unavailable(say_away(error))
    elif isinstance(error, RequestDataTooBig):
        error = TooLarge("The body is too large.")
    elif isinstance(error, Http404):
        error = exceptions.NotFound()
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    if isinstance(error, Problem):
        response = Response(error_body(error.code, error.message, error.fields), error.status)
        if isinstance(error, NotNow):
            response["Retry-After"] = str(error.retry_after_s)
        return response
    return _render_api_exception(error) if isinstance(error, exceptions.APIException) else None


def _render_api_exception(error: exceptions.APIException) -> Response:
    status = error.status_code
    if isinstance(error, exceptions.ValidationError):
        body = error_body("invalid", "The request has errors.", flatten_details(error.detail))
        if any(TOO_LARGE in codes for codes in flatten_details(error.get_codes()).values()):
            status, body["code"], body["message"] = 413, TOO_LARGE, "The request is over a limit."
    else:
        body = error_body(error.default_code, str(error.detail))
    asks_for_key = getattr(error, "auth_header", None)
    headers = {"WWW-Authenticate": asks_for_key} if asks_for_key else None
    return Response(body, status, headers=headers)


def flatten_details(detail: Any, path: str = "") -> dict[str, list[str]]:
    """Return the errors by the dotted path of the field: {"message.role": ["…"]}."""
    if isinstance(detail, Mapping):
        inner_details = list(detail.items())
    elif isinstance(detail, list) and any(isinstance(item, (Mapping, list)) for item in detail):
        inner_details = [(index, item) for index, item in enumerate(detail) if item]
    else:
        texts = detail if isinstance(detail, list) else [detail]
        return {path or "body": [str(text) for text in texts]}
    fields: dict[str, list[str]] = {}
    for key, inner in inner_details:
        place = path if key == "non_field_errors" else f"{path}.{key}".lstrip(".")
        for name, texts in flatten_details(inner, place).items():
            fields.setdefault(name, []).extend(texts)
    return fields


def is_away(error: BaseException) -> bool:
    """Return whether the database is unavailable, or lacks a migration."""
    missing = isinstance(error.__cause__, (UndefinedTable, UndefinedColumn))
    return missing or isinstance(error, (OperationalError, InterfaceError))


def say_away(error: BaseException) -> str:
    """Return the message about a database that is unavailable, or must not be used."""
    return str(error) if isinstance(error, UnsafeDatabase) else AWAY


MALFORMED = ("invalid", "The request is malformed.")
FAILED = ("error", "Something went wrong on the server.")
ANSWERS = {
    400: MALFORMED,
    403: ("permission_denied", "This is not allowed."),
    404: ("not_found", "There is no such resource."),
    405: ("method_not_allowed", "This method is not allowed here."),
    413: (TOO_LARGE, "The request is too large."),
}
"""Messages by status for errors outside a view; FAILED for all other statuses."""


class ApiErrorMiddleware(MiddlewareMixin):
    """Gives errors outside a view the API's form, for paths of the API.

    An unknown host or path, a body that Django refuses before DRF reads it, a database that is
    unavailable while a key is looked up, and everything unforeseen.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Answer requests that are refused unread, and API requests with an unknown host name.

        Not read are compressed bodies, which could expand to any size, bodies that declare too
        large a size, requests beyond the tenant's share, and those that waited too long.
        """
        if (refusal := request.META.get(REFUSAL)) == BUSY:
            message = "Too many calls of this tenant are being answered."
            return _refuse(429, "too_many", message, retry_after_s=1)
        if refusal:
            return _refuse(503, "unavailable", deadlines.LATE, retry_after_s=RETRY_AFTER_S)
        limit = body_limit(request.path)
        too_large = declared_bytes(request.META) > limit
        if not request.path.startswith(API_PREFIX):
            return HttpResponse("<h1>413</h1>", status=413) if too_large else None
        try:
            request.get_host()
        except DisallowedHost:
            message = "This server does not serve the named host; MEMORY_ALLOWED_HOSTS lists them."
            return _refuse(400, "invalid", message)
        if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
            message = "Send the body as it is, not compressed."
            return _refuse(415, "unsupported_media_type", message)
        return _refuse(413, TOO_LARGE, f"The body is over {limit} bytes.") if too_large else None

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if not request.path.startswith(API_PREFIX) or response.status_code < 400:
            return response
        if response.get("Content-Type", "").startswith("application/json"):
            return response
        return _refuse(response.status_code, *ANSWERS.get(response.status_code, FAILED))

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Say of a page that the database is away; `CallMiddleware` answers faults of calls."""
        if not is_away(error):
            return None
        page = format_html("<h1>503</h1><p>{}</p>", say_away(error))
        return HttpResponse(page, status=503, headers={"Retry-After": str(RETRY_AFTER_S)})


def render_fault(error: Exception) -> HttpResponse:
    """Return the answer to a call whose view failed in a way that it did not foresee."""
    if is_away(error):
        return _refuse(503, "unavailable", say_away(error), retry_after_s=RETRY_AFTER_S)
    if isinstance(error, SuspiciousOperation):
        return _refuse(400, *MALFORMED)
    # The text of an exception may quote somebody, so only its class is logged.
    logger.error("unforeseen", extra=logs.describe_error(error))
    return _refuse(500, *FAILED)


def _refuse(status: int, code: str, message: str, *, retry_after_s: int = 0) -> JsonResponse:
    response = JsonResponse(error_body(code, message), status=status)
    if retry_after_s:
        response["Retry-After"] = str(retry_after_s)
    response["Content-Length"] = str(len(response.content))  # CommonMiddleware comes later
    return response
