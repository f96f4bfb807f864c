"""Whoever watches the server learns soon that nobody works, and nothing of a tenant."""

from __future__ import annotations

import time
import uuid

import pytest

from tests.reliability.client import Answer, Caller
from tests.reliability.product import Product, web, workers

pytestmark = pytest.mark.gate
A_MINUTE_LATER = """
UPDATE jobs_job SET run_after = run_after - interval '70 s',
    finished_at = finished_at - interval '70 s' RETURNING 1
"""
WITHIN_S = 300


def wait_for(status: int, stranger: Caller) -> Answer:
    started = time.monotonic()
    while (answer := stranger.get("health/ready")).status != status:
        assert time.monotonic() - started < WITHIN_S, answer.content
        time.sleep(1)
    return answer


def test_stopped_workers_turn_readiness_red_and_new_ones_green(product: Product) -> None:
    with web(product.around()) as port:
        caller, stranger = product.caller(port), Caller(port, "none")
        with workers(product.around()):
            say(caller)
            wait_for(200, stranger)
        say(caller)
        assert stranger.get("health/ready").status == 200, "it came just now"
        product.query(A_MINUTE_LATER)
        red = wait_for(503, stranger)
        assert "no worker takes any" in red.json()["message"]
        assert caller.get("health/live").status == 200
        with workers(product.around()):
            green = wait_for(200, stranger)
    told = green.json()
    assert told.pop("status") == "ok" and told.pop("models_away") == []
    assert all(value is None or type(value) is int for value in told.values()), told


def say(caller: Caller) -> None:
    conversation = str(uuid.uuid4())
    message = {"role": "user", "content": "I moved to Porto."}
    body = {"conversation_id": conversation, "message": message}
    assert caller.post("add_message", body).status == 201
    assert caller.post("flush", {"conversation_id": conversation}).status == 202
