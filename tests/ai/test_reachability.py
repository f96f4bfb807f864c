"""An operator is told in words where the endpoint that is configured cannot be asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from pytest_django import Settings

from memoryproject.ai import reachability


class _Server(HTTPServer):
    status = 200
    body = b""
    closing: threading.Event


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        if not self.server.status:
            self.server.closing.wait(20)
            return
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def endpoint(settings: Settings) -> Iterator[_Server]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.closing = threading.Event()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    settings.LLM, settings.CHAT_MODEL, settings.OPENAI_API_KEY = "openai", "mine", "secret-key"
    settings.OPENAI_BASE_URL = f"http://127.0.0.1:{server.server_port}/v1"
    yield server
    server.closing.set()
    server.shutdown()
    server.server_close()
    thread.join()


def lists(*names: str) -> bytes:
    rows = [{"id": name, "object": "model", "created": 0, "owned_by": "me"} for name in names]
    return json.dumps({"object": "list", "data": rows}).encode()


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, lists("mine", "other"), ""),
        (200, lists(), ""),
        (501, b"", ""),
        (200, lists("other"), "does not list the model mine"),
        (200, b"<html>Welcome</html>", "does not speak OpenAI's protocol"),
        (401, b"{}", "answers with status 401"),
        (404, b"{}", "answers with status 404"),
        (503, b"{}", "answers with status 503"),
    ],
)
def test_what_is_wrong_is_said(status: int, body: bytes, words: str, endpoint: _Server) -> None:
    endpoint.status, endpoint.body = status, body
    said = reachability.find_problem()
    assert words in said and bool(said) is bool(words)
    assert "secret-key" not in said and "Welcome" not in said


def test_a_hanging_endpoint_is_not_waited_for(endpoint: _Server) -> None:
    endpoint.status = 0
    assert "did not answer" in reachability.find_problem(patience_s=0.3)


def test_nobody_there_is_said_and_offline_nobody_is_asked(settings: Settings) -> None:
    settings.LLM, settings.OPENAI_BASE_URL = "openai", "http://127.0.0.1:1/v1"
    assert "cannot be reached" in reachability.find_problem()
    settings.LLM = "offline"
    assert reachability.find_problem() == ""
