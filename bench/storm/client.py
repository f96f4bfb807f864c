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
    """What came back: `status` 0 where nothing did."""

    status: int
    content: bytes = b""

    @property
    def body(self) -> dict[str, Any]:
        """The object in it; {} where it is no JSON object."""
        try:
            found = json.loads(self.content)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


class Client:
    """Calls the API with one tenant's key; never raises for what the network does."""

    def __init__(self, *, port: int, key: str = "") -> None:
        self._port = port
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._connection: http.client.HTTPConnection | None = None

    def post(self, call: str, body: dict[str, Any], **headers: str) -> Answer:
        """Return the answer to a call of the API."""
        return self.send("POST", call, json.dumps(body).encode(), **headers)

    def require(self, call: str, **body: Any) -> bytes:
        """Return the content of an answer.

        Raises:
            RuntimeError: the call was refused.
        """
        # After a long rest the server has hung up, which only the next call finds out.
        answers = (self.post(call, body) for _ in range(2))
        answer = next((one for one in answers if one.status), Answer(0))
        if not 200 <= answer.status < 300:
            raise RuntimeError(f"{call} was answered with {answer.status}.")
        return answer.content

    def get(self, call: str) -> Answer:
        """Return what a call of the API shows."""
        return self.send("GET", call)

    def delete(self, call: str) -> Answer:
        """Return the answer to a call that deletes."""
        return self.send("DELETE", call)

    def send(self, method: str, call: str, body: bytes = b"", **headers: str) -> Answer:
        """Return the answer to a call, read to its end."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named |= self._headers | ({"Content-Type": "application/json"} if body else {})
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection(HOST, self._port, timeout=TIMEOUT_S)
            self._connection.request(method, f"/api/v0/{call}", body or None, named)
            response = self._connection.getresponse()
            return Answer(response.status, response.read())
        except (OSError, http.client.HTTPException):
            self.close()
            return Answer(0)

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
