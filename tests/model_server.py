"""A language and embedding model that says what a test tells it to, over real HTTP.

It speaks OpenAI's chat/completions and embeddings. A script is a list of replies by
purpose; the purpose of a chat request is the name of its JSON schema ("segment",
"consolidate", "review"), "plain" where it names none, and "embed" for embeddings. A
request without a reply and a reply without a request both fail the test. What a server
of some kind refuses, whatever the script says, is given to `refuse`; see tests.dialects.
"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CHAT = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    purpose: str
    body: dict[str, Any]
    authorization: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    path: str = ""

    @property
    def system(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][1]["content"])


@dataclass(frozen=True)
class Reply:
    """What goes over the wire. `cut` bytes are left out; `drip_s` is waited before each byte."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int = 0
    hang_s: float = 0.0
    drip_s: float = 0.0
    drop: bool = False


Step = Reply | Callable[[Asked], Reply]
"""A reply, or what makes one when the question is known."""
Gate = Callable[[Asked], Reply | None]
"""What a server says to a request that it does not take."""


def says(answer: Any, *, usage: Any = None, **reply: Any) -> Reply:
    """Answer a chat: text as it is, anything else as JSON."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    body: dict[str, Any] = {
        "id": "chat-1",
        "object": "chat.completion",
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
    }
    if usage is not None:
        body["usage"] = usage
    return sends(body, **reply)


def sends(body: Any, **reply: Any) -> Reply:
    """Send any JSON body."""
    return Reply(body=json.dumps(body).encode(), **reply)


def fails(status: int, **headers: str) -> Reply:
    """Answer with an HTTP error that quotes something, as providers do."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"error": {"message": "quoting: moving from Ghent to Rotterdam", "type": "scripted"}}
    return Reply(body=json.dumps(body).encode(), status=status, headers=named)


def embeds(rows: Sequence[Sequence[float]]) -> Reply:
    """Answer embeddings, last one first: the index tells the order."""
    data = [
        {"object": "embedding", "index": index, "embedding": list(row)}
        for index, row in enumerate(rows)
    ]
    return sends({"object": "list", "model": "scripted", "data": data[::-1]})


class ModelServer:
    """A running server, its script, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.unscripted: list[str] = []
        self.closing = threading.Event()
        self.get: dict[str, Any] = {}
        """What stands at paths that are only looked at; elsewhere is nothing."""
        self._script: dict[str, list[Step]] = defaultdict(list)
        self._always: dict[str, Step] = {}
        self._gate: Gate | None = None
        self._lock = threading.Lock()
        self._http = _HTTPServer(("127.0.0.1", 0), _Handler)
        self._http.model = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def script(self, purpose: str, *steps: Step) -> None:
        """Add replies that must be used, in order."""
        self._script[purpose] += steps

    def always(self, purpose: str, step: Step) -> None:
        """Answer thus whatever is not scripted, never or many times."""
        self._always[purpose] = step

    def refuse(self, gate: Gate) -> None:
        """Let this decide first on each request; one that it refuses uses no reply up."""
        self._gate = gate

    def requests(self, purpose: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.purpose == purpose]

    def take_reply(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            refusal = self._gate(asked) if self._gate else None
            if refusal is not None:
                return refusal
            waiting = self._script[asked.purpose]
            step = waiting.pop(0) if waiting else self._always.get(asked.purpose)
        if step is None:
            self.unscripted.append(asked.purpose)
            return fails(500)
        return step if isinstance(step, Reply) else step(asked)

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def check(self) -> None:
        """Fail on requests without a reply and on replies without a request."""
        unused = {purpose: len(steps) for purpose, steps in self._script.items() if steps}
        assert not self.unscripted, f"unscripted requests: {self.unscripted}"
        assert not unused, f"unused replies: {unused}"


@contextmanager
def run_model_server() -> Iterator[ModelServer]:
    """Serve until the block ends; the script is checked if the block went well."""
    server = ModelServer()
    try:
        yield server
    finally:
        server.close()
    server.check()


class _HTTPServer(ThreadingHTTPServer):
    model: ModelServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients hang up on purpose here, and a wrong step gives no answer."""


class _Handler(BaseHTTPRequestHandler):
    server: _HTTPServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path, _, _ = self.path.partition("?")
        key = self.headers["Authorization"]
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(_name_purpose(path, body), body, key, headers, self.path)
        self._send(self.server.model.take_reply(asked))

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        known = path in self.server.model.get
        self._send(sends(self.server.model.get[path]) if known else fails(404))

    def _send(self, reply: Reply) -> None:
        if reply.hang_s:
            self.server.model.closing.wait(reply.hang_s)
        if reply.drop:
            return
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        with suppress(ConnectionError):
            self._write(reply)

    def _write(self, reply: Reply) -> None:
        body = reply.body[: len(reply.body) - reply.cut]
        if not reply.drip_s:
            self.wfile.write(body)
            return
        for place in range(len(body)):
            if self.server.model.closing.is_set():
                return
            time.sleep(reply.drip_s)
            self.wfile.write(body[place : place + 1])

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output clean."""


def _name_purpose(path: str, body: dict[str, Any]) -> str:
    if path == EMBEDDINGS:
        return "embed"
    if path != CHAT:
        return path
    wanted = body.get("response_format", {})
    return str(wanted["json_schema"]["name"]) if "json_schema" in wanted else "plain"
