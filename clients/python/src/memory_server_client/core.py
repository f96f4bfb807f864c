"""Calls, their retries and answers, without a transport: what both faces of the client share.

A `Flow` is a generator that yields what is to be done, a `Call` or seconds to wait, is sent
what came of it, and returns the result. A face drives it, sync or async.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias, TypeVar, Union
from uuid import UUID, uuid4

import httpx

from memory_server_client.errors import BY_STATUS, MemoryServerError, Unreachable

T = TypeVar("T")
Id: TypeAlias = Union[str, UUID]
Moment: TypeAlias = Union[datetime, str, int]
"""A datetime with an offset, the same as ISO 8601, or milliseconds since 1970."""
API = "/api/v0/"
FIRST_WAIT_S = 0.5


@dataclass(frozen=True)
class Call:
    """One call of the API.

    `repeatable` says that doing it twice is as good as once: it only reads, or has a key.
    """

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    key: str | None = None
    repeatable: bool = False
    fine: Sequence[int] = ()
    """Statuses of errors that are answers all the same."""

    def encode(self) -> tuple[bytes | None, dict[str, str]]:
        """Return the body as sent, and the headers of this call alone."""
        headers = {"Idempotency-Key": self.key} if self.key else {}
        if self.body is None:
            return None, headers
        text = json.dumps(self.body, default=_encode, ensure_ascii=False)
        # Half a surrogate pair is for the server to refuse, as what it is.
        headers["Content-Type"] = "application/json"
        return text.encode("utf-8", "surrogatepass"), headers


Outcome: TypeAlias = Union[httpx.Response, httpx.TransportError, None]
Flow: TypeAlias = Generator[Union[Call, float], Outcome, T]


@dataclass(frozen=True)
class Retries:
    """How often a call is tried, and how long each wait between two tries may be."""

    attempts: int = 4
    wait_at_most_s: float = 30.0

    def find_wait(self, call: Call, error: MemoryServerError, attempt: int) -> float | None:
        """Return the seconds until the next try; None: raise the error.

        429 says that nothing was done. 503 and a lost connection do not: what changes
        something and has no key is not repeated then.
        """
        may = error.status == 429 or (call.repeatable and error.status in {0, 503})
        if attempt >= self.attempts or not may:
            return None
        wait_s = error.retry_after_s
        if wait_s is None:
            wait_s = FIRST_WAIT_S * 2 ** (attempt - 1)
        return wait_s if wait_s <= self.wait_at_most_s else None


class Markdown(str):
    """A text for a prompt, with what the headers of its answer say.

    Attributes:
        receipt: the id of the receipt, for `get_retrieval`; None where there is none.
        indexed_through: the last `seq` that episodes contain; None: not said.
        pending: messages not processed yet; None: not said.
        token_counter: how tokens were counted; None: not said.
        fence: the random word of the marks around the text; None: there are none.
        degraded: what was missing: `no_vectors` or `mirror`; None: nothing.
        cut: of how many messages the text shows a part; None: of none.
        relevance: how likely it is that the text holds what was asked for, 0 to 1; None: not known.
    """

    receipt: str | None = None
    indexed_through: int | None = None
    pending: int | None = None
    token_counter: str | None = None
    fence: str | None = None
    degraded: str | None = None
    cut: int | None = None
    relevance: float | None = None


def send(call: Call, retries: Retries, read: Callable[[httpx.Response], T]) -> Flow[T]:
    """Make a call until it has an answer, or none is to be hoped for.

    Raises:
        MemoryServerError: the class for its status.
    """
    attempt = 0
    while True:
        attempt += 1
        outcome = yield call
        error = find_error(outcome, call)
        if error is None:
            assert isinstance(outcome, httpx.Response)
            return read(outcome)
        wait_s = retries.find_wait(call, error, attempt)
        if wait_s is None:
            raise error from (outcome if isinstance(outcome, Exception) else None)
        yield wait_s


def find_error(outcome: Outcome, call: Call) -> MemoryServerError | None:
    """Return what went wrong; None: nothing."""
    if not isinstance(outcome, httpx.Response):
        name = type(outcome).__name__
        return Unreachable(f"The server does not answer ({name}).", code="unreachable")
    status = outcome.status_code
    if status < 300 or status in call.fine:
        return None
    try:
        body = outcome.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        body = {"message": "The answer is not the memory server's."}
    return BY_STATUS.get(status, MemoryServerError)(
        str(body.get("message", "")),
        status=status,
        code=str(body.get("code", "error")),
        fields=body.get("fields"),
        request_id=outcome.headers.get("X-Request-Id"),
        retry_after_s=_read_seconds(outcome.headers.get("Retry-After")),
    )


def read_json(response: httpx.Response) -> Any:
    """Return the body of an answer; None where it is empty."""
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError as error:
        message = "The answer is not the memory server's."
        raise MemoryServerError(message, status=response.status_code) from error


def read_markdown(response: httpx.Response) -> Markdown:
    """Return the text of an answer with what its headers say."""
    text, headers = Markdown(response.text), response.headers
    text.receipt = headers.get("Memory-Receipt")
    text.indexed_through = _read_number(headers.get("Memory-Indexed-Through"))
    text.pending = _read_number(headers.get("Memory-Pending"))
    text.token_counter = headers.get("Memory-Token-Counter")
    text.fence = headers.get("Memory-Fence")
    text.degraded = headers.get("Memory-Degraded")
    text.cut = _read_number(headers.get("Memory-Cut"))
    relevance = headers.get("Memory-Relevance")
    text.relevance = None if relevance is None else float(relevance)
    return text


class Calls:
    """Makes the flows of calls; what names the operations builds on it."""

    _retries: Retries

    def _get(
        self,
        path: str,
        query: Mapping[str, Any] | None = None,
        *,
        read: Callable[[httpx.Response], Any] = read_json,
        fine: Sequence[int] = (),
    ) -> Flow[Any]:
        call = Call("GET", path, query=write_query(query or {}), repeatable=True, fine=fine)
        return send(call, self._retries, read)

    def _list(self, path: str, query: Mapping[str, Any]) -> Call:
        """Return the call of a list's first page."""
        return Call("GET", path, query=write_query(query), repeatable=True)

    def _ask(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        read: Callable[[httpx.Response], Any] = read_json,
    ) -> Flow[Any]:
        """Post what only reads."""
        call = Call("POST", path, body=drop_absent(body), repeatable=True)
        return send(call, self._retries, read)

    def _post(self, path: str, body: Mapping[str, Any] | None = None) -> Flow[Any]:
        """Post what changes something and takes no key."""
        call = Call("POST", path, body=None if body is None else drop_absent(body))
        return send(call, self._retries, read_json)

    def _store(self, path: str, key: str | None, body: Mapping[str, Any]) -> Flow[Any]:
        """Post what takes an Idempotency-Key; a new one is made where none is given."""
        key = key or str(uuid4())
        call = Call("POST", path, body=drop_absent(body), key=key, repeatable=True)
        return send(call, self._retries, read_json)

    def _change(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Flow[Any]:
        return send(Call(method, path, body=body), self._retries, read_json)


def drop_absent(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def write_query(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a query that are not None, as the server reads them.

    `page_size` is the `limit` of a page, and a datetime is ISO 8601.
    """
    return {
        "limit" if name == "page_size" else name: (
            value.isoformat() if isinstance(value, datetime) else value
        )
        for name, value in drop_absent(fields).items()
    }


def named(local: Mapping[str, Any], *others: str) -> dict[str, Any]:
    """Return a method's parameters as fields of a body or query, which have the same names.

    `local` is its `locals()`, `others` are the parameters that go elsewhere.
    """
    return {name: value for name, value in local.items() if name not in {"self", *others}}


def at(path: str, *ids: Id) -> str:
    """Return a path with ids in it.

    Raises:
        ValueError: one is no UUID; what else it is would lead to another address.
    """
    try:
        return path.format(*(UUID(str(one)) for one in ids))
    except ValueError:
        raise ValueError("An id must be a UUID.") from None


def _encode(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"A {type(value).__name__} is not JSON.")


def _read_seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None


def _read_number(text: str | None) -> int | None:
    return int(text) if text else None
