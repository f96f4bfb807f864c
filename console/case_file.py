"""The case file: why did it say that?"""

from __future__ import annotations

import uuid

from django.http import Http404, HttpRequest, HttpResponse

from console.pages import page_for


@page_for()
def show_entry(request: HttpRequest) -> HttpResponse:
    raise Http404


@page_for()
def show_case(request: HttpRequest, retrieval_id: uuid.UUID) -> HttpResponse:
    raise Http404
