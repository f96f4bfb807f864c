"""One HTTP connection to the server, kept alive until something goes wrong."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any

HOST = "127.0.0.1"
TIMEOUT_S = 15.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: `status` 0 where nothing did; `body` {} where it was no JSON."""

    status: int
    body: dict[str, Any]


class Client:
    """Posts JSON with one tenant's key; never raises for what the network does."""

    def __init__(self, *, port: int, key: str) -> None:
        self._port = port
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._connection: http.client.HTTPConnection | None = None

    def post(self, call: str, body: dict[str, Any], **headers: str) -> Answer:
        """Return the answer to a call of the API."""
        return self._ask("POST", call, json.dumps(body), **headers)

    def get(self, call: str) -> Answer:
        """Return what a call of the API shows."""
        return self._ask("GET", call, "")

    def delete(self, call: str) -> Answer:
        """Return the answer to a call that deletes."""
        return self._ask("DELETE", call, "")

    def _ask(self, method: str, call: str, body: str, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection(HOST, self._port, timeout=TIMEOUT_S)
            self._connection.request(method, f"/api/v0/{call}", body, self._headers | named)
            response = self._connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException):
            self.close()
            return Answer(0, {})
        return Answer(response.status, _parse(content))

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _parse(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
