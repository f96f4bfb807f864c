"""A key, and all keys of a tenant together, call no faster than they may."""

from __future__ import annotations

import math
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from episodic.models import Message
from memoryproject.edge.errors import Problem, TooFast
from memoryproject.tenancy import limits
from memoryproject.tenancy.limits import Allowance
from memoryproject.tenancy.models import APIKey
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import bo as bo
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation

pytestmark = pytest.mark.django_db


def allowance(rate: int, burst: int) -> Allowance:
    return Allowance(uuid.uuid4(), "This key", rate, burst)


def takes(*allowances: Allowance) -> int:
    """Take one call; return the seconds to wait, 0 where it was taken."""
    try:
        limits.take(list(allowances))
    except TooFast as error:
        return error.retry_after_s
    return 0


def drain(*allowances: Allowance, at_most: int = 1000) -> int:
    """Take calls until one is refused; return how many were taken."""
    return next(count for count in range(at_most) if takes(*allowances))


@pytest.fixture(autouse=True)
def nothing_is_remembered(settings: Settings) -> None:
    settings.KEY_REMEMBERED_S = -1.0


@pytest.mark.parametrize(
    ("rate", "burst"), [(6000, 600), (600, 60), (100, 10), (60, 10), (10, 10), (7, 7), (1, 1)]
)
def test_a_tenth_of_a_minutes_calls_may_come_at_once(rate: int, burst: int) -> None:
    assert limits.find_burst(rate) == burst
    assert drain(allowance(1, burst)) == burst


def let_pass(held: Allowance, seconds: float) -> None:
    """Move what is known of an allowance into the past by so much."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tenancy_allowance SET due_at = due_at - %s * interval '1 s' WHERE owner = %s",
            [seconds, held.owner],
        )


def test_an_allowance_comes_back_evenly() -> None:
    """One call comes back each minute: the test itself takes no time to speak of."""
    held = allowance(rate=1, burst=3)
    assert drain(held) == 3
    let_pass(held, 60)
    assert takes(held) == 0 and takes(held) > 0
    let_pass(held, 5 * 60)
    assert drain(held) == 3


@pytest.mark.parametrize("rate", [1, 7, 20, 60])
def test_the_wait_is_rounded_up_to_whole_seconds(rate: int) -> None:
    held = allowance(rate=rate, burst=1)
    started = time.monotonic()
    assert takes(held) == 0
    wait_s = takes(held)
    passed_s = time.monotonic() - started
    assert math.ceil(60 / rate - passed_s) <= wait_s <= math.ceil(60 / rate)


def test_who_waits_as_long_as_told_is_let_in() -> None:
    held = allowance(rate=6, burst=2)
    assert drain(held) == 2
    wait_s = takes(held)
    assert 0 < wait_s <= 10
    let_pass(held, wait_s)
    assert takes(held) == 0


def test_a_refused_call_takes_from_neither() -> None:
    mine, ours = allowance(1, 5), allowance(1, 3)
    assert drain(mine, ours) == 3
    assert drain(mine) == 2
    ours = allowance(1, 5)
    assert takes(mine, ours) == 60 and drain(ours) == 5


def test_an_end_too_far_ahead_is_cut_to_a_whole_allowance() -> None:
    """As after a slower rate, or when the database's clock was put back."""
    held = allowance(rate=60, burst=3)
    takes(held)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tenancy_allowance SET due_at = now() + interval '1 year' WHERE owner = %s",
            [held.owner],
        )
    assert takes(held) == 1
    let_pass(held, 1)
    assert takes(held) == 0


def test_a_row_that_was_changed_often_makes_way_and_nothing_is_forgotten() -> None:
    mine, ours = allowance(1, 700), allowance(1, 1300)
    assert drain(mine, ours) == 700 and drain(ours) == 600
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT turn, uses FROM tenancy_allowance WHERE owner = ANY(%s) ORDER BY turn",
            [[mine.owner, ours.owner]],
        )
        assert cursor.fetchall() == [(1, 199), (2, 298)]


def test_without_a_limit_the_database_is_not_asked(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        limits.take([])
    with django_assert_num_queries(1):
        limits.take([allowance(60, 1), allowance(60, 1)])


@pytest.mark.parametrize("rate", [-1, 10**6 + 1])
def test_a_rate_has_bounds(ana: Agent, rate: int) -> None:
    for set_rate in (
        lambda: limits.set_rate(ana.key, rate),
        lambda: limits.set_rate(ana.tenant, rate),
    ):
        with pytest.raises(Problem):
            set_rate()


# ---- over the API


def test_a_call_too_many_is_told_when_to_come_back(ana: Agent) -> None:
    limits.set_rate(ana.key, 5)
    assert {ana.get("facts").status_code for _ in range(5)} == {200}
    refused = ana.get("facts")
    problem = assert_problem(refused, 429)
    assert problem["code"] == "too_fast" and "5 calls a minute" in problem["message"]
    assert 2 <= int(refused["Retry-After"]) <= 12, "twelve, less what these calls took"


def test_a_refused_message_is_not_stored_and_a_retry_stores_it_once(
    ana: Agent, conversation: uuid.UUID
) -> None:
    limits.set_rate(ana.key, 2)
    body = {
        "conversation_id": str(conversation),
        "message": {"role": "user", "content": "I moved to Porto."},
    }
    assert ana.get("facts").status_code == ana.get("facts").status_code == 200
    assert_problem(ana.post("add_message", body, idempotency_key="a"), 429)
    assert not Message.objects.of(ana.tenant).exists()
    limits.set_rate(ana.key, 0)
    statuses = [ana.post("add_message", body, idempotency_key="a").status_code for _ in range(2)]
    assert statuses == [201, 200] and Message.objects.of(ana.tenant).count() == 1


def test_the_keys_of_a_tenant_share_its_allowance(ana: Agent, bo: Agent, cleo: Agent) -> None:
    limits.set_rate(ana.tenant, 6)
    statuses = [agent.get("facts").status_code for _ in range(4) for agent in (ana, bo)]
    assert statuses == [200] * 6 + [429] * 2
    assert "tenant" in assert_problem(ana.get("facts"), 429)["message"]
    assert cleo.get("facts").status_code == 200


def test_one_key_that_is_too_fast_leaves_the_others_of_its_tenant_alone(
    ana: Agent, bo: Agent
) -> None:
    limits.set_rate(ana.key, 1)
    assert [ana.get("facts").status_code for _ in range(2)] == [200, 429]
    assert {bo.get("facts").status_code for _ in range(20)} == {200}


def test_the_servers_rates_count_where_there_is_no_own(ana: Agent, settings: Any) -> None:
    settings.KEY_RATE = 2
    assert [ana.get("facts").status_code for _ in range(3)] == [200, 200, 429]
    limits.set_rate(ana.key, 4)
    limits.set_rate(ana.key, 0)
    settings.TENANT_RATE = 3
    assert [ana.get("facts").status_code for _ in range(4)] == [200, 200, 200, 429]


def test_calls_beyond_the_scope_and_bad_bodies_count_too(ana: Agent) -> None:
    limits.set_rate(ana.key, 3)
    APIKey.objects.of(ana.tenant).update(scopes=["read"])
    assert_problem(ana.post("flush", {}), 403)
    assert_problem(ana.post("retrieve_memory", "{"), 400)
    assert_problem(ana.get("facts/x"), 404)
    assert ana.get("facts").status_code == 200, "an address that is none is nobody's call"
    assert_problem(ana.get("facts"), 429)


def test_health_and_the_description_are_free(ana: Agent) -> None:
    limits.set_rate(ana.key, 1)
    assert [ana.get("facts").status_code for _ in range(2)] == [200, 429]
    for path in ("health/live", "health/ready", "schema/"):
        assert ana.get(path).status_code == 200


def test_a_tenant_sends_so_much_a_minute_and_more_is_not_stored(
    ana: Agent, bo: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    """Whatever the calls are: one of 4 MB takes as much as many small ones."""
    limits.set_rate(ana.tenant, 60_000, limits.BYTES)
    messages = [{"role": "user", "content": "x" * 60_000}] * 60
    body = {"conversation_id": str(conversation), "messages": messages}
    assert ana.post("add_messages", body).status_code == 201
    refused = bo.post("add_messages", body)
    message = assert_problem(refused, 429)["message"]
    assert "This tenant may send 60000 bytes a minute" in message
    assert 60 * 50 < int(refused["Retry-After"]) < 60 * 80
    assert Message.objects.of(ana.tenant).count() == 60
    assert ana.get("facts").status_code == 200, "what has no body is free"
    assert cleo.post("add_messages", body).status_code == 201


def test_the_bytes_of_small_bodies_are_taken_some_at_a_time(ana: Agent) -> None:
    limits.set_rate(ana.tenant, 60_000, limits.BYTES)
    ahead = limits.BYTES_AT_LEAST // limits.AHEAD_SHARE
    with CaptureQueriesContext(connection) as queries:
        for _ in range(30):
            limits.take_call(ana.key, body_bytes=ahead // 10)
    assert len(queries) == 3
    with CaptureQueriesContext(connection) as queries:
        limits.take_call(ana.key, body_bytes=ahead + 1)
    assert len(queries) == 1


# ---- at once


@pytest.mark.django_db(transaction=True)
def test_fifty_threads_take_exactly_what_there_is() -> None:
    """Two keys of one tenant; a call comes back each minute.

    The tenant's row makes way for another in the middle.
    """
    keys, ours = [allowance(1, 90), allowance(1, 600)], allowance(1, 120)
    barrier, each = threading.Barrier(50), 12
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO tenancy_allowance VALUES (%s, 7, 440, 'epoch')", [ours.owner])

    def work(number: int) -> list[bool]:
        barrier.wait()
        try:
            return [takes(keys[number % 2], ours) == 0 for _ in range(each)]
        finally:
            connections.close_all()

    started = time.monotonic()
    with ThreadPoolExecutor(50) as pool:
        taken = [sum(found) for found in pool.map(work, range(50))]
    back = 1 + int((time.monotonic() - started) / 60)
    assert 120 <= sum(taken) <= 120 + back
    assert sum(taken[::2]) <= 90 + back and sum(taken[1::2]) >= 30 - back
    assert takes(ours) > 0
