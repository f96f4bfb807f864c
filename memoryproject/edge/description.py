"""Serves the description of the API to anyone."""

import hashlib
import threading
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.encoding import force_bytes
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

_made: dict[str, dict[str, Any]] = {}
"""Contents of the response, by format."""
_lock = threading.Lock()


class Description(SpectacularAPIView):
    """Answers with the OpenAPI description, which is built once per process and format.

    Building it takes half a second, too long for each call; and two threads must not build it at
    once. It is large: a client that sends its ETag gets 304, from every process of the same
    version.
    """

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        renderer = request.accepted_renderer
        with _lock:
            if renderer.format not in _made:
                response = self._get_schema_response(request)  # type: ignore[no-untyped-call]
                content = renderer.render(response.data, renderer.media_type, {})
                headers = {
                    "Content-Disposition": response["Content-Disposition"],
                    "ETag": f'"{hashlib.sha256(force_bytes(content)).hexdigest()}"',
                    "Cache-Control": "public, no-cache",  # it holds nobody's words
                }
                kind = renderer.media_type
                made = {"content": content, "content_type": kind, "headers": headers}
                _made[renderer.format] = made
        response = HttpResponse(**_made[renderer.format])
        answer = get_conditional_response(request, etag=response["ETag"], response=response)
        assert answer is not None  # where the caller has no ETag it is the response
        return answer

    def _get_version_parameter(self, request: Request) -> None:
        """Leave out of the shared description the version that the first caller asked for."""
