"""A database that turns read-only, as in a failover, is away: all goes on when it takes writes."""

from __future__ import annotations

import pytest

from tests.reliability.client import Caller, assert_unavailable
from tests.reliability.product import LASTING_KEYS, Product, web, workers
from tests.reliability.test_degradation import (
    TALK,
    ask,
    routes,
    say,
    sign_in_form,
    wait_for,
)

pytestmark = pytest.mark.gate


def turn_read_only(product: Product, value: str) -> None:
    """Say for all sessions, also those that are open, whether they may write."""
    with product.connect() as connection:
        connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}".encode())
        connection.execute("SELECT pg_reload_conf()")
    wait_for(lambda: product.query("SHOW default_transaction_read_only") == [(value,)])


def test_while_the_database_is_read_only_everything_says_so_and_then_goes_on(
    product: Product,
) -> None:
    cold = product.manage("create_api_key", "--tenant", "ana's")
    with web(product.around(), app=f"{LASTING_KEYS}:application") as port:
        caller = product.caller(port)
        assert say(caller).status == 201
        token = sign_in_form(caller)
        turn_read_only(product, "on")
        refused: set[tuple[str, str]] = set()
        for method, route in routes():
            for key in (caller.key, cold):
                answer = ask(Caller(port, key), method, route)
                if answer.status == 503:
                    refused.add((method, route))
                    assert_unavailable(answer)
                else:
                    assert answer.status < 500, "what only reads may be answered"
        assert {(method, route) for method, route in routes() if method != "GET"} <= refused
        assert ("GET", "health/ready") in refused
        form = f"csrfmiddlewaretoken={token}&username=a&password=b"
        kind = "application/x-www-form-urlencoded"
        signed = caller.ask(
            "POST", "/admin/login/", form, Cookie=f"csrftoken={token}", Content_Type=kind
        )
        assert signed.status == 503 and b"read-only" in signed.content
        turn_read_only(product, "off")
        assert say(caller).status == 201, "at once: the connections were given up"
        assert caller.get("health/ready").status == 200


def test_jobs_wait_for_a_database_that_takes_writes_and_lose_no_attempt(product: Product) -> None:
    with web(product.around()) as port, workers(product.around()):
        caller = product.caller(port)
        assert say(caller).status == 201
        assert caller.post("flush", TALK).status == 202
        wait_for(lambda: product.query("SELECT 1 FROM jobs_job WHERE state <> 'done'") == [])
        product.query("UPDATE jobs_job SET state = 'ready', attempts = 0, finished_at = NULL,"
                      " run_after = now() + interval '2 s' RETURNING 1")  # fmt: skip
        turn_read_only(product, "on")
        wait_for(lambda: product.query("SELECT now() > max(run_after) FROM jobs_job") == [(True,)])
        turn_read_only(product, "off")
        wait_for(lambda: product.query("SELECT 1 FROM jobs_job WHERE state <> 'done'") == [])
        charged = product.query("SELECT max(attempts), max(transient_failures) FROM jobs_job")
        assert charged == [(1, 0)]
