"""Requests that are too large, contradict themselves or end early: refused, and nothing stored."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from episodic.models import Message
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.reliability.client import HOST, Caller

pytestmark = pytest.mark.django_db(transaction=True)

START = (
    b"POST /api/v0/add_message HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
)
BODY = (
    b'{"conversation_id": "0b8f7c52-6f0e-4a57-9d0b-3f6f7c1f2a11",'
    b' "message": {"role": "user", "content": "hi"}}'
)
CHUNK = b"%x\r\n%s\r\n" % (len(BODY), BODY)
ODD: dict[str, tuple[bytes, bytes, set[int]]] = {
    "a header of 100 kB": (b"X: " + b"a" * 100_000 + b"\r\n", BODY, {431}),
    "ten thousand headers": (b"X: a\r\n" * 20_000, BODY, {431}),
    "an authorization of 60 kB": (b"Authorization: Bearer " + b"a" * 60_000 + b"\r\n", BODY, {401}),
    "two lengths": (b"Content-Length: 5\r\nContent-Length: 6\r\n", BODY, {400}),
    "a length below zero": (b"Content-Length: -1\r\n", BODY, {400}),
    "a length in words": (b"Content-Length: five\r\n", BODY, {400}),
    "a length of 4 TB": (b"Content-Length: 4000000000000\r\n", BODY, {413}),
    "a length just over the cap": (b"Content-Length: 4194305\r\n", b" " * 4194305, {413}),
    "a length that is too short": (b"Content-Length: 10\r\n", BODY, {400}),
    "chunks without an end in hex": (b"Transfer-Encoding: chunked\r\n", b"zz\r\n" + BODY, {400}),
    "chunks that say less than they hold": (
        b"Transfer-Encoding: chunked\r\n", b"5\r\n" + BODY + b"\r\n0\r\n\r\n", {400},
    ),
    "a coding that is unknown": (b"Transfer-Encoding: gzip\r\n", CHUNK + b"0\r\n\r\n", {400, 501}),
    "a header without a name": (b": x\r\n", BODY, {400}),
    "a header that goes on": (b"X: a\r\n b\r\n", b"", {400, 401}),
    "a body that is compressed": (
        b"Content-Encoding: gzip\r\nContent-Length: 4\r\n", b"\x1f\x8b\0\0", {415},
    ),
}  # fmt: skip


def send(port: int, head: bytes, body: bytes, *, key: str) -> int:
    """Send bytes as they are; return the status of the first answer, 0 where there is none."""
    start = START
    if b"Authorization" not in head:
        start += f"Authorization: Bearer {key}\r\n".encode()
    with closing(socket.create_connection((HOST, port), timeout=60)) as connection:
        try:
            connection.sendall(start + head + b"\r\n" + body)
        except OSError:
            pass  # refused before all of it was sent
        try:
            first = connection.recv(65536).split(b" ", 2)
        except OSError:
            return 0
    return int(first[1]) if len(first) > 1 else 0


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_request_is_refused_and_the_next_one_served(ana: Agent, port: int, odd: str) -> None:
    head, body, statuses = ODD[odd]
    assert send(port, head, body, key=ana.secret) in statuses
    assert not Message.objects.of(ana.tenant).exists()
    assert Caller(port, ana.secret).get("facts").status == 200


def test_a_request_that_breaks_off_stores_nothing(ana: Agent, port: int) -> None:
    start = START + f"Authorization: Bearer {ana.secret}\r\n".encode()
    start += b"Content-Length: %d\r\n\r\n" % len(BODY)
    whole = start + BODY
    for end in (10, len(start), len(whole) - 1):
        with closing(socket.create_connection((HOST, port), timeout=60)) as connection:
            connection.sendall(whole[:end])
    assert Caller(port, ana.secret).get("facts").status == 200
    assert not Message.objects.of(ana.tenant).exists()


def test_a_body_in_chunks_is_taken_whole(ana: Agent, port: int) -> None:
    head = b"Transfer-Encoding: chunked\r\n"
    assert send(port, head, CHUNK + b"0\r\n\r\n", key=ana.secret) == 201
    assert Message.objects.of(ana.tenant).get().content == "hi"
