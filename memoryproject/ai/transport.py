"""Connections to a server named by its URL, only to permitted addresses.

A name is resolved once for each connection, and the connection goes to the addresses that were
checked. No redirect is followed: it would send the key elsewhere. The whole answer, with headers,
must arrive within the read timeout, counted from the question: the usual timeout starts again with
each byte, so a slow server could block us forever.
"""

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any
from urllib import request as urllib_request
from urllib.parse import urlsplit

import httpcore2
import httpx2

from memoryproject.process import addresses, traces
from memoryproject.process.scopes import get_work, working

Resolve = Callable[[str, int], list[str]]
Judge = Callable[[str], bool]
"""Function that takes an IP address and returns whether it must not be called."""
create_ssl_context = cache(httpx2.create_ssl_context)
"""The context of all connections: reading its certificates takes some 70 ms."""


class AnswerTooLong(httpx2.ReadError):
    """The answer has more bytes than its client accepts."""


class TimedStream(httpcore2.NetworkStream):
    """A connection whose reads end at the deadline of the whole answer."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream
        self.write, self.close = stream.write, stream.close  # type: ignore[method-assign]
        self.get_extra_info = stream.get_extra_info  # type: ignore[method-assign]

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = get_work().answer_until - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the answer took too long")
        wait_s = min(left, float("inf") if timeout is None else timeout)
        return self._stream.read(max_bytes, None if wait_s == float("inf") else wait_s)

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        return TimedStream(self._stream.start_tls(ssl_context, server_hostname, timeout))


class BoundedBody(httpx2.SyncByteStream):
    """The body of an answer, with a deadline and at most `bytes_at_most`."""

    def __init__(self, body: Iterable[bytes], *, until: float, bytes_at_most: float) -> None:
        self._body, self._until, self._left = body, until, bytes_at_most

    def __iter__(self) -> Iterator[bytes]:
        parts = iter(self._body)
        while True:
            with working(answer_until=self._until):
                part = next(parts, None)
            if part is None:
                return
            self._left -= len(part)
            if self._left < 0:
                raise AnswerTooLong("the answer is too long")
            if time.monotonic() > self._until:
                raise httpx2.ReadTimeout("the answer took too long")
            yield part

    def close(self) -> None:
        if isinstance(self._body, httpx2.SyncByteStream):
            self._body.close()


class AddressRefused(httpcore2.ConnectError):
    """The name resolves to an address that must not be called."""


def resolve(host: str, port: int) -> list[str]:
    """Return the IP addresses of a host, in the order in which to try them.

    Raises:
        ConnectError: it has none.
    """
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise httpcore2.ConnectError("the name cannot be looked up") from None
    return list(dict.fromkeys(str(address[0]) for *_, address in entries))


class JudgingBackend(httpcore2.SyncBackend):
    """Connects only to addresses that it has resolved and checked itself."""

    def __init__(
        self, resolve: Resolve = resolve, is_refused: Judge = addresses.is_refused
    ) -> None:
        self._resolve = resolve
        self._is_refused = is_refused

    def connect_tcp(self, host: str, port: int, *positional: Any, **named: Any) -> Any:
        """Connect to the first address that answers.

        Raises:
            AddressRefused: one of them must not be called.
        """
        found = self._resolve(host, port)
        if any(map(self._is_refused, found)):
            raise AddressRefused("the server has an address that is refused")
        failure: Exception = httpcore2.ConnectError("the name has no address")
        for address in found:
            try:
                return TimedStream(super().connect_tcp(address, port, *positional, **named))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


class JudgingTransport(httpx2.HTTPTransport):
    """Sends requests over connections of a `JudgingBackend`, and limits their answers."""

    def __init__(
        self,
        *,
        proxy: str | None = None,
        resolve: Resolve = resolve,
        is_refused: Judge = addresses.is_refused,
        bytes_at_most: float = float("inf"),
    ) -> None:
        super().__init__(proxy=proxy, verify=create_ssl_context())
        self._bytes_at_most = bytes_at_most
        if proxy is None:
            self._pool.close()
            self._pool = httpcore2.ConnectionPool(
                ssl_context=create_ssl_context(),
                max_connections=100,
                keepalive_expiry=5.0,
                network_backend=JudgingBackend(resolve, is_refused),
            )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        traces.inject(request.headers)
        patience_s = request.extensions.get("timeout", {}).get("read")
        until = float("inf") if patience_s is None else time.monotonic() + patience_s
        with working(answer_until=until):
            answer = super().handle_request(request)
        assert isinstance(answer.stream, httpx2.SyncByteStream)
        at_most = self._bytes_at_most
        answer.stream = BoundedBody(answer.stream, until=until, bytes_at_most=at_most)
        return answer


def find_proxy(base_url: str) -> str | None:
    """Return the URL of the proxy that the environment names for this URL, or None."""
    parts = urlsplit(base_url)
    proxies = urllib_request.getproxies_environment()
    if urllib_request.proxy_bypass_environment(parts.netloc, proxies):  # type: ignore[attr-defined]
        return None
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"
