"""The connections to a server that is named by its URL: to addresses that may be asked alone.

A name is looked up once for each connection, judged, and connected to at the addresses
that were judged. No redirect is followed: it would take the key elsewhere.
"""

import socket
from collections.abc import Callable
from typing import Any
from urllib import request as urllib_request
from urllib.parse import urlsplit

import httpcore2
import httpx2

from memoryproject.process import addresses, traces

Resolve = Callable[[str, int], list[str]]
Judge = Callable[[str], bool]
"""Takes an IP address; returns whether nothing may be asked there."""


class AddressRefused(httpcore2.ConnectError):
    """The name leads to an address at which nothing may be asked."""


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
    """Connects to a name at those addresses that it has judged itself."""

    def __init__(
        self, resolve: Resolve = resolve, is_refused: Judge = addresses.is_refused
    ) -> None:
        super().__init__()
        self._resolve = resolve
        self._is_refused = is_refused

    def connect_tcp(self, host: str, port: int, *positional: Any, **named: Any) -> Any:
        """Connect to the first address that answers.

        Raises:
            AddressRefused: one of them may not be asked.
        """
        found = self._resolve(host, port)
        if any(map(self._is_refused, found)):
            raise AddressRefused("the server has an address that is refused")
        failure: Exception = httpcore2.ConnectError("the name has no address")
        for address in found:
            try:
                return super().connect_tcp(address, port, *positional, **named)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


class JudgingTransport(httpx2.HTTPTransport):
    """Carries requests over connections of a `JudgingBackend`."""

    def __init__(
        self,
        *,
        proxy: str | None = None,
        resolve: Resolve = resolve,
        is_refused: Judge = addresses.is_refused,
    ) -> None:
        super().__init__(proxy=proxy)
        if proxy is None:
            self._pool.close()
            self._pool = httpcore2.ConnectionPool(
                ssl_context=httpx2.create_ssl_context(),
                max_connections=100,
                max_keepalive_connections=20,
                keepalive_expiry=5.0,
                network_backend=JudgingBackend(resolve, is_refused),
            )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        traces.inject(request.headers)
        return super().handle_request(request)


def find_proxy(base_url: str) -> str | None:
    """Return the URL of the proxy that the environment names for this one, if it does."""
    parts = urlsplit(base_url)
    proxies = urllib_request.getproxies_environment()
    if urllib_request.proxy_bypass_environment(parts.netloc, proxies):  # type: ignore[attr-defined]
        return None
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"
