"""Response headers: those of `headers.toml` for browsers, and our own."""

from typing import TypeVar

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from memoryproject.process.tables import read_table

AnyResponse = TypeVar("AnyResponse", bound=HttpResponse)
API = "/api/"
_FILE = read_table(__file__)
ALWAYS: dict[str, str] = _FILE["always"]
POLICIES = {start: "; ".join(policy) for start, policy in _FILE["policies"].items()}


class HeadersMiddleware(MiddlewareMixin):
    """Sets the headers on every answer, including those of an inner middleware."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        response.headers["Content-Security-Policy"] = next(
            POLICIES[start] for start in POLICIES if request.path.startswith(start)
        )
        for name, value in ALWAYS.items():
            response.headers.setdefault(name, value)
        if request.path.startswith(API):
            # It may contain somebody's text, so no cache may keep it.
            response.headers.setdefault("Cache-Control", "no-store")
        return response


def markdown_response(text: str) -> HttpResponse:
    """Return a markdown response; an empty text is an empty body."""
    return HttpResponse(text, content_type="text/markdown; charset=utf-8")


def set_headers(response: AnyResponse, **headers: object) -> AnyResponse:
    """Return the response with our headers, `receipt` as `Memory-Receipt`; no empty ones."""
    for name, value in headers.items():
        if value not in (None, ""):
            response[f"Memory-{name.replace('_', '-').title()}"] = str(value)
    return response
