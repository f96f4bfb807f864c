"""Headers of answers: those of `headers.toml` on each, for browsers, and our own."""

from collections.abc import Callable
from typing import TypeVar

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from memoryproject.process.tables import read_table

AnyResponse = TypeVar("AnyResponse", bound=HttpResponse)
API = "/api/"
_FILE = read_table(__file__)
ALWAYS: dict[str, str] = _FILE["always"]
POLICIES = {start: "; ".join(policy) for start, policy in _FILE["policies"].items()}


class HeadersMiddleware:
    """Puts the headers on every answer, also on those that an inner middleware gives."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        response.headers["Content-Security-Policy"] = next(
            POLICIES[start] for start in POLICIES if request.path.startswith(start)
        )
        for name, value in ALWAYS.items():
            response.headers.setdefault(name, value)
        if request.path.startswith(API):
            # It may hold what somebody said: no cache on the way keeps it.
            response.headers.setdefault("Cache-Control", "no-store")
        return response


def markdown_response(text: str) -> HttpResponse:
    """Return markdown; an empty text is an empty body."""
    return HttpResponse(text, content_type="text/markdown; charset=utf-8")


def set_headers(response: AnyResponse, **headers: object) -> AnyResponse:
    """Return the response with headers of ours, `receipt` as `Memory-Receipt`; none for nothing."""
    for name, value in headers.items():
        if value not in (None, ""):
            response[f"Memory-{name.replace('_', '-').title()}"] = str(value)
    return response
