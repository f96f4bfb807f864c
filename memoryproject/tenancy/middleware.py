"""Sets whose rows a request may see."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import cast

from django.conf import settings
from django.contrib import messages
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.template.response import SimpleTemplateResponse
from django.urls import resolve

from memoryproject.edge import replicas
from memoryproject.edge.http import render_fault
from memoryproject.edge.web_pool import API_PREFIX, declared_bytes
from memoryproject.tenancy import key_usage, membership, walls

ADMIN = "/admin/"


class CallMiddleware:
    """Answers API calls by their views; the middlewares after it are for pages.

    A call sees no rows at first, and those of the key's tenant once `KeyAuthentication` has found
    it. This ends with the request, in any case.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(API_PREFIX):
            return self._get_response(request)
        with walls.seeing(walls.NOBODY):
            return self._answer_counted(request)

    def _answer_counted(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and count the answer for the key that was sent, if it is valid."""
        started = time.monotonic()
        response = _answer(request)
        key = getattr(request, "auth", None)
        if key is not None:
            key_usage.count_answer(
                key,
                status=response.status_code,
                ms=1000 * (time.monotonic() - started),
                bytes_in=declared_bytes(request.META),
                bytes_out=len(getattr(response, "content", b"")),
                failure=key_usage.describe_failure(request, response),
            )
        return response


def _answer(request: HttpRequest) -> HttpResponseBase:
    view, slots, named = request.resolver_match = resolve(request.path_info)
    try:
        response: HttpResponseBase = view(request, *slots, **named)
        return response.render() if isinstance(response, SimpleTemplateResponse) else response
    except Exception as error:
        return render_fault(error)


class WallsMiddleware:
    """Shows people of the admin the rows of the selected tenant, and everybody else none.

    It comes after the middlewares that find the logged-in user. A person's selection is in
    `request.tenants`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not _is_of_staff(request):
            with walls.seeing(walls.NOBODY):
                return self._get_response(request)
        choice = membership.choose_tenant(request)
        request.tenants = choice  # type: ignore[attr-defined]
        if choice.unknown:
            messages.error(request, f"No tenant is named “{choice.unknown}”.")
        with walls.seeing(choice.whose):
            response = self._get_response(request)
        if settings.READ_DATABASES and request.method == "POST" and response.status_code < 400:
            position = str(replicas.find_position())
            response.set_cookie(
                replicas.COOKIE,
                position,
                path=ADMIN,
                httponly=True,
                secure=settings.SESSION_COOKIE_SECURE,
                samesite="Lax",
            )
        if isinstance(response, StreamingHttpResponse):
            content = cast(Iterator[bytes], response.streaming_content)
            response.streaming_content = _continue(content, choice.whose)
        return response


def _is_of_staff(request: HttpRequest) -> bool:
    if request.path_info.startswith(ADMIN):
        # The view meets the same error, where it is answered with 503.
        with suppress(OperationalError, InterfaceError):
            return request.user.is_active and request.user.is_staff
    return False


def _continue(content: Iterator[bytes], whose: str) -> Iterator[bytes]:
    """Yield the rest of an answer that is read from the database after the view has returned."""
    while True:
        with walls.seeing(whose):
            part = next(content, None)
        if part is None:
            return
        yield part
