"""The page after too many wrong passwords."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from console.pages import show_page


def answer_locked_out(
    request: HttpRequest, response: HttpResponse, credentials: dict[str, Any] | None
) -> HttpResponse:
    """Return the page that says how long to wait; 429, with Retry-After.

    It is the same for a name that exists and for one that does not.
    """
    wait = settings.AXES_COOLOFF_TIME
    page = show_page(
        request,
        "console/locked_out.html",
        title="Too many attempts",
        status=429,
        minutes=int(wait.total_seconds() // 60),
        attempts=settings.AXES_FAILURE_LIMIT,
    )
    page["Retry-After"] = str(int(wait.total_seconds()))
    return page
