"""Puts the headers of `headers.toml` on each answer, for browsers."""

from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from memoryproject.process.tables import read_table

API = "/api/"
_FILE = read_table(__file__)
ALWAYS: dict[str, str] = _FILE["always"]
POLICIES = {start: "; ".join(policy) for start, policy in _FILE["policies"].items()}


class HeadersMiddleware(MiddlewareMixin):
    """Puts the headers on every answer, also on those that an inner middleware gives."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        response.headers["Content-Security-Policy"] = next(
            POLICIES[start] for start in POLICIES if request.path.startswith(start)
        )
        for name, value in ALWAYS.items():
            response.headers.setdefault(name, value)
        if request.path.startswith(API):
            # It may hold what somebody said: no cache on the way keeps it.
            response.headers.setdefault("Cache-Control", "no-store")
        return response
