"""While all threads that answer are busy, whoever asks for a sign of life gets it."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from tests.conftest import Agent
from tests.reliability.client import Caller
from tests.reliability.product import WEB_THREADS

pytestmark = pytest.mark.django_db(transaction=True)


def add(caller: Caller) -> int:
    message = {"role": "user", "content": "hi"}
    return caller.post(
        "add_message", {"conversation_id": str(uuid.uuid4()), "message": message}
    ).status


def test_a_full_pool_leaves_health_live_answering(ana: Agent, port: int) -> None:
    caller = Caller(port, ana.secret)
    assert add(caller) == 201
    with ThreadPoolExecutor() as pool:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE episodic_conversation")
            calls = [pool.submit(add, caller) for _ in range(WEB_THREADS + 2)]
            time.sleep(1)
            assert not any(call.done() for call in calls)
            for _ in range(20):
                started = time.monotonic()
                assert caller.get("health/live").status == 200
                assert time.monotonic() - started < 1
        assert [call.result() for call in calls] == [201] * (WEB_THREADS + 2)
