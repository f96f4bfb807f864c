"""What each answer tells a browser: what the page may load, and who may show it.

No page holds an inline script. The admin's theme needs 'unsafe-eval': Alpine.js reads the
expressions in its attributes by it; and inline styles, which the theme's colours are.
"""

from collections.abc import Callable, Mapping

from django.http import HttpRequest, HttpResponseBase

API = "/api/"
DOCS = "/api/v0/docs/"
ADMIN = "/admin/"

_NOTHING = {
    "default-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
_PAGE = {
    **_NOTHING,
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
}
_ADMIN = {**_PAGE, "script-src": "'self' 'unsafe-eval'", "form-action": "'self'"}


def _write(policy: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {sources}" for name, sources in policy.items())


POLICIES = {DOCS: _write(_PAGE), ADMIN: _write(_ADMIN)}
"""By the start of the path."""
ELSEWHERE = _write(_NOTHING)
UNUSED = "accelerometer camera display-capture geolocation gyroscope magnetometer microphone"
ALWAYS = {
    "Permissions-Policy": ", ".join(
        f"{feature}=()" for feature in [*UNUSED.split(), "payment", "usb", "browsing-topics"]
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}


class HeadersMiddleware:
    """Puts the headers on every answer, also on those that an inner middleware gives."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        response.headers["Content-Security-Policy"] = next(
            (POLICIES[start] for start in POLICIES if request.path.startswith(start)), ELSEWHERE
        )
        for name, value in ALWAYS.items():
            response.headers.setdefault(name, value)
        if request.path.startswith(API):
            # It may hold what somebody said: no cache on the way keeps it.
            response.headers.setdefault("Cache-Control", "no-store")
        return response
