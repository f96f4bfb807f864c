"""Whoever watches the server learns soon that nobody works, and nothing of a tenant."""

from __future__ import annotations

import time
import uuid

import pytest

from tests.reliability.client import Answer, Caller
from tests.reliability.product import Product, web, workers

pytestmark = [pytest.mark.gate, pytest.mark.alone]
RED_WITHIN_S = 90
GREEN_WITHIN_S = 60


def wait_for(status: int, stranger: Caller, *, within_s: float) -> Answer:
    started = time.monotonic()
    while (answer := stranger.get("health/ready")).status != status:
        assert time.monotonic() - started < within_s, answer.content
        time.sleep(1)
    return answer


def test_stopped_workers_turn_readiness_red_and_new_ones_green(product: Product) -> None:
    with web(product.around()) as port:
        caller, stranger = product.caller(port), Caller(port, "none")
        with workers(product.around()):
            say(caller)
            wait_for(200, stranger, within_s=GREEN_WITHIN_S)
        say(caller)
        red = wait_for(503, stranger, within_s=RED_WITHIN_S)
        assert "no worker takes any" in red.json()["message"]
        assert caller.get("health/live").status == 200
        with workers(product.around()):
            green = wait_for(200, stranger, within_s=GREEN_WITHIN_S)
    told = green.json()
    assert told.pop("status") == "ok" and told.pop("models_away") == []
    assert all(value is None or type(value) is int for value in told.values()), told


def say(caller: Caller) -> None:
    conversation = str(uuid.uuid4())
    message = {"role": "user", "content": "I moved to Porto."}
    body = {"conversation_id": conversation, "message": message}
    assert caller.post("add_message", body).status == 201
    assert caller.post("flush", {"conversation_id": conversation}).status == 202
