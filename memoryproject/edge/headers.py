"""Puts the headers of `headers.toml` on each answer, for browsers."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from memoryproject.process.tables import read_table

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
