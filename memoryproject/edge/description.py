"""The description of the API, which anyone may ask for."""

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
"""What the response is made of, by format."""
_lock = threading.Lock()


class Description(SpectacularAPIView):
    """Answers with the OpenAPI description; made once a process and format.

    Making it takes half a second, which nobody may cost us call by call; and two threads
    that make the first one at once would disturb each other. It is large: who names the ETag of
    the one that they have gets 304, from every process of the same version.
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
        """Leave out of the one description what the first caller says that its version is."""
