"""Whose rows a request may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse

from memoryproject.tenancy import walls

ADMIN = "/admin/"


class WallsMiddleware:
    """Lets the people in the admin see all tenants, and a request of the API nobody's rows.

    Nobody's until a key has shown whose: `KeyAuthentication` then names the tenant. What
    it named ends with the request, however that ends. Stands after those that find out
    who has logged in.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not _is_of_staff(request):
            with walls.acting_for_nobody():
                return self._get_response(request)
        with walls.across_tenants():
            response = self._get_response(request)
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = _across(cast(Iterator[bytes], response.streaming_content))
        return response


def _is_of_staff(request: HttpRequest) -> bool:
    if not request.path_info.startswith(ADMIN):
        return False
    try:
        return request.user.is_active and request.user.is_staff
    except (OperationalError, InterfaceError):
        return False  # the view meets the same error, where it is answered with 503


def _across(content: Iterator[bytes]) -> Iterator[bytes]:
    """Yield what is still to be read from the database when the view has long returned."""
    while True:
        with walls.across_tenants():
            part = next(content, None)
        if part is None:
            return
        yield part
