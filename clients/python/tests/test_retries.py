"""What is repeated and when, against a loopback server that answers by a script."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import memory_server_client as memory

TALK = str(uuid.uuid4())
HELLO: Any = {"role": "user", "content": "Hello."}
DROP = 0
"""In place of a status: the connection ends without an answer."""


@dataclass
class Script:
    """What to answer, in order, and what came."""

    url: str = ""
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    came: list[tuple[str, str | None, bytes]] = field(default_factory=list)


@pytest.fixture
def script() -> Iterator[Script]:
    """Serve a script; each answer is used, and nothing else is asked."""
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            script.came.append((self.path, self.headers.get("Idempotency-Key"), body))
            status, headers = script.answers.pop(0)
            if status == DROP:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in {"Content-Length": "2", **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"{}")

        do_GET = do_POST

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield script
    server.shutdown()
    thread.join()
    server.server_close()
    assert script.answers == []


SOON = {"Retry-After": "0"}
Do = Callable[[Any], Any]


def read(client: Any) -> Any:
    return client.whoami()


def ask(client: Any) -> Any:
    return client.search("boats")


def store(client: Any) -> Any:
    return client.add_message(TALK, HELLO)


def change(client: Any) -> Any:
    return client.flush(TALK)


@pytest.mark.parametrize("do", [read, ask, store, change])
def test_too_fast_is_tried_again_for_nothing_was_done(connect: Any, script: Script, do: Do) -> None:
    script.answers = [(429, SOON), (429, SOON), (200, {})]
    assert do(connect(script.url, "key")) == {}
    assert len(script.came) == 3 and len(set(script.came)) == 1


@pytest.mark.parametrize("lost", [(DROP, {}), (503, SOON)])
@pytest.mark.parametrize("do", [read, ask, store])
def test_a_lost_answer_is_asked_for_again_by_the_same_key(
    connect: Any, script: Script, do: Do, lost: Any
) -> None:
    script.answers = [lost, (200, {})]
    assert do(connect(script.url, "key")) == {}
    (_, first, _), (_, second, _) = script.came
    assert first == second and bool(first) is (do is store)


@pytest.mark.parametrize(
    "lost, error", [((DROP, {}), memory.Unreachable), ((503, SOON), memory.Unavailable)]
)
def test_a_change_without_a_key_is_not_made_twice(
    connect: Any, script: Script, lost: Any, error: type[Exception]
) -> None:
    script.answers = [lost]
    with pytest.raises(error):
        change(connect(script.url, "key"))
    assert len(script.came) == 1


def test_it_gives_up_after_so_many_tries_or_so_long_a_wait(connect: Any, script: Script) -> None:
    script.answers = [(429, SOON), (429, SOON), (429, {"Retry-After": "3600"})]
    client = connect(script.url, "key", retries=memory.Retries(attempts=2))
    with pytest.raises(memory.TooMany):
        read(client)
    with pytest.raises(memory.TooMany) as refused:
        read(client)
    assert refused.value.retry_after_s == 3600 and len(script.came) == 3


def test_the_key_follows_no_redirect(connect: Any, script: Script) -> None:
    script.answers = [(302, {"Location": "/elsewhere"})]
    with pytest.raises(memory.MemoryServerError) as refused:
        read(connect(script.url, "key"))
    assert refused.value.status == 302 and len(script.came) == 1


def test_an_answer_of_something_else_is_an_error(connect: Any, script: Script) -> None:
    script.answers = [(200, {"Content-Length": "1"}), (502, {"Content-Length": "1"})]
    client = connect(script.url, "key")
    for status in (200, 502):
        with pytest.raises(memory.MemoryServerError) as refused:
            read(client)
        assert refused.value.status == status


def test_nobody_there_is_unreachable_and_no_key_a_mistake(
    connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = connect("http://127.0.0.1:9", "key", retries=memory.Retries(attempts=1))
    with pytest.raises(memory.Unreachable):
        read(client)
    assert "key" not in repr(memory.Client("http://localhost", "key"))
    monkeypatch.delenv("MEMORY_KEY", raising=False)
    with pytest.raises(ValueError, match="MEMORY_KEY"):
        memory.Client("http://localhost")
