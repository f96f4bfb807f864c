"""No tenant holds all threads that answer, and what nobody waits for any more is stopped."""

from __future__ import annotations

import http.client
import json
import os
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connection, transaction

from episodic.models import Message
from memoryproject.edge.web_pool import (
    BESIDE_S,
    USED_S,
    WAIT_FOR_TURN_S,
    WAITING_A_THREAD,
    Turns,
    submit,
)
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.reliability.client import HOST, Answer, Caller, assert_unavailable
from tests.reliability.product import WEB_THREADS, web

pytestmark = pytest.mark.django_db(transaction=True)

WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"
SHARE = WEB_THREADS // 4
REFUSED = 4
CALLS = SHARE + WAITING_A_THREAD * WEB_THREADS + REFUSED
"""At once: the first are at work, some wait, the last are refused."""


def add(caller: Caller) -> Answer:
    return caller.post("add_message", make_body())


def make_body() -> dict[str, object]:
    message = {"role": "user", "content": "hi"}
    return {"conversation_id": str(uuid.uuid4()), "message": message}


@contextmanager
def nothing_is_written() -> Iterator[None]:
    """Hold a lock for which each `add_message` waits, until the block ends."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE episodic_conversation IN EXCLUSIVE MODE")
        yield


def count_waiting() -> int:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return int(cursor.fetchone()[0])


def wait_for(count: int) -> None:
    wait_until(lambda: count_waiting() == count)


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until, "it does not come to pass"
        time.sleep(0.05)


def test_a_tenant_holds_a_quarter_of_the_threads_and_no_more(
    ana: Agent, cleo: Agent, port: int
) -> None:
    """Others are answered while all of his are held: whatever one of his took is not free then."""
    hostile, other = Caller(port, ana.secret, is_patient=False), Caller(port, cleo.secret)
    assert add(hostile).status == 201
    with ThreadPoolExecutor(CALLS) as pool:
        started = time.monotonic()
        with nothing_is_written():
            calls: list[Future[Answer]] = [pool.submit(add, hostile) for _ in range(CALLS)]
            wait_for(SHARE)
            wait_until(lambda: sum(call.done() for call in calls) >= REFUSED)
            refused = [call.result() for call in calls if call.done()]
            for _ in range(3):
                for path in ("health/live", "health/ready", "facts?limit=1"):
                    assert other.get(path).status == 200
            held = count_waiting()
        statuses = [call.result().status for call in calls]
        if time.monotonic() - started < WAIT_FOR_TURN_S:  # who waits for longer is refused, too
            assert (len(refused), held) == (REFUSED, SHARE)
            assert statuses.count(201) == CALLS - REFUSED
        assert len(refused) >= REFUSED
    for answer in refused:
        assert (answer.status, answer.headers["retry-after"]) == (429, "1")
        assert answer.json()["code"] == "too_many"
    assert add(hostile).status == 201


def test_a_request_of_a_process_that_ends_is_answered_all_the_same() -> None:
    ended = ThreadPoolExecutor(1)
    ended.shutdown()
    assert submit(ended, lambda word: [word], b"ok").result() == [b"ok"]


def test_who_has_used_more_than_his_share_waits_while_others_call() -> None:
    turns = Turns(2, waiting=8)
    for _ in range(2):  # alone he may use all of it
        assert turns.enter("ana")
        turns.leave("ana", {USED_S: 10.0})
    started = time.monotonic()
    assert turns.enter("cleo") and turns.enter("ana"), "he gets his turn"
    assert time.monotonic() - started >= BESIDE_S


def test_work_for_a_client_that_is_gone_is_stopped(ana: Agent) -> None:
    """Else it would go on for as long as a request may take, which is an hour here."""
    with web({**os.environ, "MEMORY_REQUEST_SECONDS": "3600"}) as port:
        caller = Caller(port, ana.secret)
        assert add(caller).status == 201
        with nothing_is_written():
            clients = [http.client.HTTPConnection(HOST, port) for _ in range(SHARE)]
            headers = {"Authorization": f"Bearer {ana.secret}", "Content-Type": "application/json"}
            for client in clients:
                client.request("POST", "/api/v0/add_message", json.dumps(make_body()), headers)
            wait_for(SHARE)
            for client in clients:
                client.close()
            wait_for(0)
        assert add(caller).status == 201


def test_a_call_that_takes_too_long_is_answered_and_leaves_nothing(ana: Agent) -> None:
    with web({**os.environ, "MEMORY_REQUEST_SECONDS": "3"}) as port:
        caller = Caller(port, ana.secret)
        while add(caller).status != 201:  # a process that has just started is slow
            pass
        written = Message.objects.of(ana.tenant).count()
        with nothing_is_written():
            started = time.monotonic()
            answer = add(caller)
            assert time.monotonic() - started > 2.5
            wait_for(0)
        assert_unavailable(answer)
        assert "took longer" in answer.json()["message"]
        assert add(caller).status == 201
    assert Message.objects.of(ana.tenant).count() == written + 1
