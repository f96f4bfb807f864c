"""A WSGI application in which few threads answer, however many requests arrive or wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from tempfile import SpooledTemporaryFile
from typing import Any

from django.conf import settings

Environ = dict[str, Any]
Application = Callable[[Environ, Any], Iterable[bytes]]
API_PREFIX = "/api/"
LIVE = "/api/v0/health/live"
IN_MEMORY_BYTES = 512 * 1024
CHUNK_BYTES = 64 * 1024


class Pool:
    """Answers in a few threads; those of the web server read bodies and send answers.

    A client that is slow holds one of the server's many threads, and none that has a
    connection to the database. `health/live` needs none, and answers beside a full pool.
    """

    def __init__(self, application: Application, *, threads: int) -> None:
        self._application = application
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="answer")

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"] == LIVE:
            return self._application(environ, start_response)
        read_body(environ)
        return self._executor.submit(self._application, environ, start_response).result()


def read_body(environ: Environ) -> None:
    """Replace the body that arrives by the whole one, unless its length is over the limit.

    Of a body in chunks so much is read that its length shows whether it is.
    """
    limit = body_limit(environ["PATH_INFO"])
    length = environ.get("CONTENT_LENGTH") or ""
    if length.isdecimal():
        left = int(length[:20])
    else:
        left = limit + 1 if "HTTP_TRANSFER_ENCODING" in environ else 0
    if not left or (length and left > limit):
        return
    body = SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115 - closed with the request
    while left and (part := environ["wsgi.input"].read(min(left, CHUNK_BYTES))):
        body.write(part)
        left -= len(part)
    environ["CONTENT_LENGTH"] = str(body.tell())
    body.seek(0)
    environ["wsgi.input"] = body


def body_limit(path: str) -> int:
    """Return how many bytes a body may have: the API's, or a file in the admin and its form."""
    of_a_file = 0 if path.startswith(API_PREFIX) else settings.MAX_UPLOAD_BYTES
    return int(of_a_file + settings.MAX_BODY_BYTES)
