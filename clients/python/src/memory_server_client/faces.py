"""The two faces of the client, and how an operation that is written once shows on both."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

import anyio
import httpx

from memory_server_client.core import API, Call, Calls, Flow, Outcome, Retries, read_json, send

P = ParamSpec("P")
T = TypeVar("T")
LOCAL = "http://127.0.0.1:8000"


class Face(Calls):
    """What both faces know: the server's address, the key, and how to retry."""

    def __init__(self, url: str | None, key: str | None, retries: Retries | None) -> None:
        base = url or os.environ.get("MEMORY_URL") or LOCAL
        secret = key or os.environ.get("MEMORY_KEY")
        if not secret:
            raise ValueError("Give a key, or set MEMORY_KEY.")
        self.url = base.rstrip("/")
        self._headers = {"Authorization": f"Bearer {secret}", "User-Agent": "memory-server-client"}
        self._retries = retries or Retries()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def _request(self, call: Call) -> dict[str, Any]:
        """Return what the HTTP client takes."""
        content, headers = call.encode()
        return {
            "method": call.method,
            "url": self.url + API + call.path,
            "params": call.query,
            "content": content,
            "headers": {**self._headers, **headers},
        }


class SyncFace(Face):
    """Does what flows yield, one after the other, in this thread."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        retries: Retries | None = None,
        http: httpx.Client | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        """Connect to nothing yet.

        Args:
            url: where the server is; default: MEMORY_URL, or this machine's port 8000.
            key: the secret of a key; default: MEMORY_KEY.
            retries: how often and how long to try again.
            http: an HTTP client of yours, for proxies and certificates; `close` closes it.
            timeout_s: for each step of a call; of no use together with `http`.
        """
        super().__init__(url, key, retries)
        self._http = http or httpx.Client(timeout=timeout_s)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self: T) -> T:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _run(self, flow: Flow[T]) -> T:
        outcome: Outcome = None
        try:
            while True:
                step = flow.send(outcome)
                outcome = self._do(step)
        except StopIteration as end:
            result: T = end.value
            return result

    def _do(self, step: Call | float) -> Outcome:
        if not isinstance(step, Call):
            time.sleep(step)
            return None
        try:
            return self._http.request(**self._request(step))
        except httpx.TransportError as error:
            return error

    def _iterate(self, call: Call) -> Iterator[Any]:
        following: Call | None = call
        while following:
            page = self._run(send(following, self._retries, read_json))
            yield from page["items"]
            following = find_next(following, page)


class AsyncFace(Face):
    """Does what flows yield, and lets other tasks run meanwhile."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        retries: Retries | None = None,
        http: httpx.AsyncClient | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        """Connect to nothing yet.

        Args:
            url: where the server is; default: MEMORY_URL, or this machine's port 8000.
            key: the secret of a key; default: MEMORY_KEY.
            retries: how often and how long to try again.
            http: an HTTP client of yours, for proxies and certificates; `close` closes it.
            timeout_s: for each step of a call; of no use together with `http`.
        """
        super().__init__(url, key, retries)
        self._http = http or httpx.AsyncClient(timeout=timeout_s)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self: T) -> T:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def _run(self, flow: Flow[T]) -> T:
        outcome: Outcome = None
        try:
            while True:
                step = flow.send(outcome)
                outcome = await self._do(step)
        except StopIteration as end:
            result: T = end.value
            return result

    async def _do(self, step: Call | float) -> Outcome:
        if not isinstance(step, Call):
            await anyio.sleep(step)
            return None
        try:
            return await self._http.request(**self._request(step))
        except httpx.TransportError as error:
            return error

    async def _iterate(self, call: Call) -> AsyncIterator[Any]:
        following: Call | None = call
        while following:
            page = await self._run(send(following, self._retries, read_json))
            for item in page["items"]:
                yield item
            following = find_next(following, page)


def find_next(call: Call, page: Mapping[str, Any]) -> Call | None:
    """Return the call of the page after this one; None: it was the last."""
    after = page["next"]
    return (
        Call(call.method, call.path, query={**call.query, "after": after}, repeatable=True)
        if after
        else None
    )


class Operation(Generic[P, T]):
    """A method written as a flow: a plain one of `Client`, a coroutine of `AsyncClient`."""

    def __init__(self, build: Callable[Concatenate[Any, P], Flow[T]]) -> None:
        self._build = build

    @overload
    def __get__(self, face: None, owner: type) -> Callable[Concatenate[Any, P], Flow[T]]: ...
    @overload
    def __get__(self, face: SyncFace, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, face: AsyncFace, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, face: Any, owner: type) -> Any:
        return self._build if face is None else _bind(self._build, face, face._run)


class Listing(Generic[P, T]):
    """A method written as the call of its first page: an iterator over the items of all."""

    def __init__(self, build: Callable[Concatenate[Any, P], Call], item: type[T]) -> None:
        self._build = build

    @overload
    def __get__(self, face: None, owner: type) -> Callable[Concatenate[Any, P], Call]: ...
    @overload
    def __get__(self, face: SyncFace, owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, face: AsyncFace, owner: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, face: Any, owner: type) -> Any:
        return self._build if face is None else _bind(self._build, face, face._iterate)


def listing(
    item: type[T],
) -> Callable[[Callable[Concatenate[Any, P], Call]], Listing[P, T]]:
    """Make a method a listing of such items."""
    return lambda build: Listing(build, item)


def _bind(build: Callable[..., Any], face: Face, run: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return the method of one face; editors and `help` show it as it was written."""
    bound = functools.partial(build, face)

    @functools.wraps(build)
    def method(*arguments: Any, **options: Any) -> Any:
        return run(bound(*arguments, **options))

    method.__wrapped__ = bound
    return method
