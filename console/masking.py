"""Masks titles and summaries on all pages of the admin, for who may not read messages."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from episodic.masks import masking
from episodic.revealing import Reader


class MaskMiddleware:
    """Loads what quotes messages through the eyes of who has logged in to the admin.

    Stands after `WallsMiddleware`, which finds out whom and which tenant a request is about.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not hasattr(request, "tenants"):
            return self._get_response(request)
        reader = Reader(request.user)
        if reader.reads_all:
            return self._get_response(request)
        with masking(reader.mask):
            return self._get_response(request)
