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

HEADERS = {
    "cut": "How many messages the text shows a part of, with the episodes that are left out as "
    "the answer would be too large; of a profile the lines that the budget has no room for. "
    "Absent: none.",
    "degraded": "What was missing: `no_vectors`, only keywords were searched; `old_vectors`, the "
    "embedding model has changed and older memories were found by keyword; `mirror`, files were, "
    "as the database was away. Absent: nothing.",
    "empty": "`min_relevance`: the answer is less relevant than that. Absent: nothing was left "
    "out.",
    "fence": "With `fence`: the random word in the marks around the text.",
    "indexed": "What finds the notes when the answer is sent: `words`. A job makes their vectors.",
    "indexed_through": "The last `seq` up to which all messages are in episodes.",
    "pending": "How many messages are in no episode yet.",
    "read_age": "Only where replicas are read: how many seconds old what was read may be; your "
    "own writes are in it.",
    "read_from": "Only where replicas are read: `primary`, or which replica answered.",
    "receipt": "The id of the receipt: `GET retrievals/{id}` shows it.",
    "relevance": "How likely it is that the answer holds what was asked for, 0 to 1. Absent: not "
    "known.",
    "remaining_tokens": "Tokens that may still be added to the context.",
    "token_counter": "How tokens were counted.",
}
"""What the headers say that `set_headers` sets, and those of an answer from a replica."""


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
            response[name_header(name)] = str(value)
    return response


def name_header(name: str) -> str:
    """Return the name of our header: of `receipt`, `Memory-Receipt`."""
    return f"Memory-{name.replace('_', '-').title()}"
