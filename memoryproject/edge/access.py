"""Logs one line per request: route, caller, and outcome."""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from memoryproject.process import logs, metrics, traces

logger = logging.getLogger("memory.access")

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class AccessMiddleware:
    """Gives each request an id, in the log and in the answer, and logs the outcome.

    It comes first, so that it sees and times everything. It logs the pattern of the route, not path
    or query, which may contain anything.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = logs.choose_request_id(request.headers.get("X-Request-Id"))
        started = time.monotonic()
        method = request.method if request.method and request.method in METHODS else "other"
        arriving = traces.span(method, kind="server", carrier=request.headers)
        with logs.bind(request=request_id), arriving:
            response = self._get_response(request)
            route = request.resolver_match.route if request.resolver_match else None
            status = response.status_code
            trace(method, route, status)
            took_s = time.monotonic() - started
            metrics.requests.labels(method, route or "none", status).inc()
            metrics.request_seconds.labels(route or "none").observe(took_s)
            known = {"method": method, "route": route, "status": status}
            fields = {**known, **describe(request, response), "ms": round(1000 * took_s, 1)}
            logger.log(choose_level(request, status), "request", extra=fields)
        response["X-Request-Id"] = request_id
        return response


def trace(method: str, route: str | None, status: int) -> None:
    """Name the request's span by its route, once that is known."""
    known = {"http.request.method": method, "http.route": route}
    traces.describe(
        {**known, "http.response.status_code": status}, name=f"{method} {route}" if route else None
    )
    if status >= 500:
        traces.mark_failed()


def choose_level(request: HttpRequest, status: int) -> int:
    """Return the log level: our faults are errors; files are not logged by default."""
    if status == 503 or status == 429:
        return logging.WARNING
    if status >= 500:
        return logging.ERROR
    is_file = request.path_info.startswith(settings.STATIC_URL)
    return logging.DEBUG if is_file and status < 400 else logging.INFO


def describe(request: HttpRequest, response: HttpResponseBase) -> dict[str, Any]:
    key = getattr(request, "auth", None)
    # Only if looked up already: a lookup may query the database.
    user = getattr(request, "_cached_user", None)
    size = response.get("Content-Length")
    return {
        "bytes": int(size) if size else None,
        "tenant": getattr(key, "tenant_id", None),
        "key": getattr(key, "id", None),
        "user": getattr(user, "pk", None),
    }
