"""An HTTP client that costs next to nothing: what it spends, the server cannot have."""

from __future__ import annotations

import json
import socket
from typing import Any

TIMEOUT_S = 60.0


class UnexpectedAnswer(Exception):
    """The server answered with another status than the one expected."""


class Wire:
    """One connection to the server, kept alive, opened anew where the server closed it."""

    def __init__(self, *, port: int, key: str) -> None:
        self._port = port
        self._socket: socket.socket | None = None
        self._head = (
            f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\n"
        )

    def write_post(self, call: str, body: dict[str, Any]) -> bytes:
        """Return the bytes of a request to a call of the API."""
        content = json.dumps(body).encode()
        head = f"POST /api/v0/{call} HTTP/1.1\r\n{self._head}Content-Length: {len(content)}\r\n\r\n"
        return head.encode() + content

    def write_get(self, call: str) -> bytes:
        """Return the bytes of a request that reads a resource."""
        return f"GET /api/v0/{call} HTTP/1.1\r\n{self._head}\r\n".encode()

    def ask(self, request: bytes, *, status: int = 200) -> bytes:
        """Return the body of the answer.

        Raises:
            UnexpectedAnswer: its status is not `status`.
        """
        try:
            answer = self._exchange(request)
        except ConnectionError:  # idle for too long: the server has hung up
            self.close()
            answer = self._exchange(request)
        if int(answer[9:12]) != status:
            raise UnexpectedAnswer(answer[:500].decode(errors="replace"))
        return answer[answer.index(b"\r\n\r\n") + 4 :]

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _exchange(self, request: bytes) -> bytes:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=TIMEOUT_S)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(request)
        answer = self._receive(b"")
        while (end := answer.find(b"\r\n\r\n")) < 0:
            answer = self._receive(answer)
        length = _read_length(answer[:end])
        while len(answer) < end + 4 + length:
            answer = self._receive(answer)
        return answer

    def _receive(self, so_far: bytes) -> bytes:
        assert self._socket is not None
        part = self._socket.recv(1 << 16)
        if not part:
            raise ConnectionError("The server closed the connection.")
        return so_far + part


def _read_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    raise UnexpectedAnswer("no Content-Length")
