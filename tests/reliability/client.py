"""Speaking HTTP to a real web server, with all that an answer says."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, TypeVar

HOST = "127.0.0.1"
TIMEOUT_S = 30.0
BUSY = b"are being answered"

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Answer:
    """What came back; `content` as the wire had it."""

    status: int
    headers: dict[str, str]
    content: bytes
    cookies: dict[str, str] = field(default_factory=dict)

    def json(self) -> Any:
        """Return the body, read as JSON."""
        return json.loads(self.content)


@dataclass(frozen=True)
class Caller:
    """Somebody with a key at the web server of a port.

    A patient one asks again where too many of his tenant's calls are being answered.
    """

    port: int
    key: str
    is_patient: bool = True

    def post(self, call: str, body: Any = None, **headers: str) -> Answer:
        """Post JSON to a call of the API."""
        return self.ask("POST", f"/api/v0/{call}", body, **headers)

    def get(self, path: str) -> Answer:
        """Get a resource of the API."""
        return self.ask("GET", f"/api/v0/{path}")

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Ask for any path, on a connection of its own."""
        answer = self._ask_once(method, path, body, **headers)
        until = time.monotonic() + TIMEOUT_S
        while self.is_patient and answer.status == 429 and BUSY in answer.content:
            assert time.monotonic() < until
            time.sleep(0.2)
            answer = self._ask_once(method, path, body, **headers)
        return answer

    def _ask_once(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", **named}
        content = body if isinstance(body, str) or body is None else json.dumps(body)
        with closing(http.client.HTTPConnection(HOST, self.port, timeout=TIMEOUT_S)) as connection:
            connection.request(method, path, content, sent)
            response = connection.getresponse()
            headers = response.getheaders()
            content = response.read()
            return Answer(response.status, _lower(headers), content, _find_cookies(headers))


def _find_cookies(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    set_ones = (value for name, value in headers if name.lower() == "set-cookie")
    pairs = (value.split(";")[0].partition("=") for value in set_ones)
    return {name: value for name, _, value in pairs}


def _lower(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}


def at_once(work: Callable[[Item], Result], items: Iterable[Item], *, threads: int) -> list[Result]:
    """Do the work for each item in so many threads; return the results in order."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))


def assert_unavailable(answer: Answer) -> None:
    """Check that an answer is the one that tells a client to come back."""
    assert answer.status == 503, (answer.status, answer.content[:300])
    assert int(answer.headers["retry-after"]) > 0
    assert answer.headers["content-type"].startswith("application/json")
    body = answer.json()
    assert set(body) == {"code", "message", "fields"} and body["code"] == "unavailable"
