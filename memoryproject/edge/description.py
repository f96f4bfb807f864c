"""The description of the API, which anyone may ask for."""

import threading
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

_made: dict[str, dict[str, Any]] = {}
"""By format, what the response is made of."""
_lock = threading.Lock()


class Description(SpectacularAPIView):
    """Answers with the OpenAPI description; made once a process and format.

    Making it takes half a second, which nobody may cost us call by call; and two threads
    that make the first one at once would disturb each other.
    """

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        renderer = request.accepted_renderer
        with _lock:
            if renderer.format not in _made:
                response = self._get_schema_response(request)  # type: ignore[no-untyped-call]
                content = renderer.render(response.data, renderer.media_type, {})
                headers = {"Content-Disposition": response["Content-Disposition"]}
                kind = renderer.media_type
                made = {"content": content, "content_type": kind, "headers": headers}
                _made[renderer.format] = made
        return HttpResponse(**_made[renderer.format])

    def _get_version_parameter(self, request: Request) -> None:
        """Leave out of the one description what the first caller says that its version is."""
