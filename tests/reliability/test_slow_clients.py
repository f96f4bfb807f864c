"""Clients that are slow, or lie about what they send, keep nobody else out."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.reliability.client import HOST, Caller
from tests.reliability.conftest import SayFigures
from tests.reliability.product import web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.gate]

SLOW = 50
LET_GO_AFTER_S = 200
"""It is some 35 s on a quiet machine, and for ever without a limit."""
MESSAGE = {"role": "user", "content": "I moved to Porto."}
HEAD = b"POST /api/v0/add_message HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
KINDS: dict[str, tuple[bytes, bytes]] = {
    "says nothing": (b"", b""),
    "drips its headers": (HEAD + b"X-Slow: ", b"a"),
    "drips its body": (HEAD + b"Content-Length: 100000\r\n\r\n", b" "),
    "promises more than it sends": (HEAD + b"Content-Length: 100000\r\n\r\n{}", b""),
    "promises more than is allowed": (HEAD + b"Content-Length: 99999999999\r\n\r\n{}", b""),
    "drips chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
    "waits to be told to go on": (
        HEAD + b"Expect: 100-continue\r\nContent-Length: 100\r\n\r\n", b"",
    ),
    "asks, and does not read": (
        b"GET /static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js HTTP/1.1\r\n"
        b"Host: localhost\r\n\r\n", b"",
    ),
    "asks without end, and does not read": (
        b"GET /api/v0/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20, b"",
    ),
}  # fmt: skip
"""What each sends at once, and then again and again."""


@contextmanager
def slow_clients(port: int, kind: str, *, count: int = SLOW) -> Iterator[list[socket.socket]]:
    """Hold so many connections of one kind until the block ends."""
    first, then = KINDS[kind]
    with ExitStack() as stack:
        held = []
        for _ in range(count):
            one = stack.enter_context(socket.create_connection((HOST, port), timeout=10))
            one.sendall(first)
            held.append(one)
        over = threading.Event()
        dripping = threading.Thread(target=drip, args=(held, then, over))
        dripping.start()
        stack.callback(dripping.join)
        stack.callback(over.set)
        time.sleep(0.3)
        yield held


def drip(held: list[socket.socket], what: bytes, over: threading.Event) -> None:
    while not over.wait(0.5):
        for one in held if what else []:
            try:
                one.sendall(what)
            except OSError:
                pass


def timed(work: Callable[[], int]) -> tuple[int, float]:
    started = time.monotonic()
    return work(), time.monotonic() - started


@pytest.mark.parametrize("kind", KINDS)
def test_fifty_slow_connections_keep_nobody_out(
    ana: Agent, port: int, kind: str, say_figures: SayFigures
) -> None:
    caller = Caller(port, ana.secret)
    assert caller.get("facts").status == 200
    with slow_clients(port, kind):
        took = []
        for _ in range(40):
            status, seconds = timed(lambda: caller.get("facts").status)
            assert status == 200
            took.append(seconds)
    say_figures(f"{kind}: 40 calls beside {SLOW}, at most {max(took):.2f} s each")
    # Were they kept out, each would wait until a slow one is let go, which is half a minute.
    assert max(took) < 10.0


def is_closed(one: socket.socket) -> bool:
    one.settimeout(0.01)
    try:
        while one.recv(65536):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


def test_who_says_nothing_is_let_go(port: int) -> None:
    until = time.monotonic() + LET_GO_AFTER_S
    with slow_clients(port, "says nothing", count=3) as held:
        while not all(map(is_closed, held)):
            assert time.monotonic() < until
            time.sleep(0.5)


def test_what_arrives_while_the_server_ends_is_still_answered(ana: Agent) -> None:
    body = json.dumps({"conversation_id": str(uuid.uuid4()), "message": MESSAGE}).encode()
    head = HEAD + b"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n"
    with socket.socket() as client:
        client.settimeout(60)
        with web(os.environ) as port:
            client.connect((HOST, port))
            client.sendall(head % (ana.secret.encode(), len(body)) + body[:20])
            threading.Timer(1.0, client.sendall, [body[20:]]).start()
        assert client.recv(100).startswith(b"HTTP/1.1 201 ")
