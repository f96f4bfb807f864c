"""Keys that are rotated, revoked and limited, over real HTTP at two processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from memoryproject.tenancy import limits, services
from memoryproject.tenancy.models import APIKey, KeyUsage
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import bo as bo
from tests.fresh import cleo as cleo
from tests.reliability.client import Answer, Caller, at_once
from tests.reliability.product import web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.gate]


@pytest.fixture(scope="module")
def ports(port: int) -> Iterator[tuple[int, int]]:
    """Two web servers on one database."""
    with web(os.environ) as second:
        yield port, second


def say(caller: Caller, talk: uuid.UUID, number: int) -> Answer:
    message = {"role": "user", "content": f"Message {number}."}
    body = {"conversation_id": str(talk), "message": message}
    return caller.post("add_message", body, Idempotency_Key=str(number))


def test_a_rotation_under_load_costs_no_call(ana: Agent, ports: tuple[int, int]) -> None:
    secrets, talk, until = [ana.secret], uuid.uuid4(), time.monotonic() + 4

    def work(writer: int) -> list[int]:
        found = []
        while time.monotonic() < until:
            caller = Caller(ports[len(found) % 2], secrets[-1])
            found.append(say(caller, talk, writer * 10_000 + len(found)).status)
        return found

    with ThreadPoolExecutor(4) as pool:
        working = [pool.submit(work, writer) for writer in range(4)]
        for _ in range(3):
            time.sleep(1)
            key = APIKey.objects.of(ana.tenant).select_related("tenant").get(id=ana.key.id)
            secrets.append(services.rotate_key(key=key, now=timezone.now()).secret)
        statuses = [status for worker in working for status in worker.result()]
    assert set(statuses) == {201} and len(statuses) > 20


@pytest.mark.parametrize("how", ["revoked", "expired", "replaced"])
def test_a_key_that_ends_is_refused_by_all_processes_once_none_remembers_it(
    ana: Agent, ports: tuple[int, int], how: str
) -> None:
    callers = [Caller(port, ana.secret) for port in ports]
    assert [caller.get("facts").status for caller in callers] == [200, 200]
    now = timezone.now()
    key = APIKey.objects.of(ana.tenant).select_related("tenant").get(id=ana.key.id)
    if how == "revoked":
        services.revoke_api_key(key=key, now=now)
    elif how == "expired":
        APIKey.objects.of(ana.tenant).update(expires_at=now)
    else:
        services.rotate_key(key=key, now=now, grace=timedelta(0))
    time.sleep(settings.KEY_REMEMBERED_S)
    assert [caller.get("facts").status for caller in callers] == [401, 401]


def test_the_allowance_is_one_for_all_processes(ana: Agent, ports: tuple[int, int]) -> None:
    """Fifty threads against two processes: twenty a minute pass ten at once, no more."""
    limits.set_rate(ana.key, 20)
    barrier = threading.Barrier(50)

    def work(number: int) -> list[Answer]:
        barrier.wait()
        caller = Caller(ports[number % 2], ana.secret)
        return [caller.get("facts") for _ in range(4)]

    started = time.monotonic()
    answers = [answer for found in at_once(work, range(50), threads=50) for answer in found]
    came_back = (time.monotonic() - started) / 3.0
    passed = [answer for answer in answers if answer.status == 200]
    refused = [answer for answer in answers if answer.status == 429]
    assert len(passed) + len(refused) == 200
    assert 10 <= len(passed) <= 10 + came_back + 1
    assert {int(answer.headers["retry-after"]) for answer in refused} <= {1, 2, 3}


def test_who_comes_back_when_told_is_let_in(ana: Agent, ports: tuple[int, int]) -> None:
    limits.set_rate(ana.key, 30)
    caller = Caller(ports[0], ana.secret)
    answer = caller.get("facts")
    while answer.status == 200:
        answer = caller.get("facts")
    wait_s = int(answer.headers["retry-after"])
    assert answer.status == 429 and 1 <= wait_s <= 2
    time.sleep(wait_s)
    assert caller.get("facts").status == 200


def test_the_keys_of_a_tenant_share_over_all_processes(
    ana: Agent, bo: Agent, cleo: Agent, ports: tuple[int, int]
) -> None:
    limits.set_rate(ana.tenant, 10)
    time.sleep(settings.KEY_REMEMBERED_S)
    callers = [Caller(port, agent.secret) for port in ports for agent in (ana, bo)]
    started = time.monotonic()
    statuses = at_once(lambda n: callers[n % 4].get("facts").status, range(60), threads=20)
    assert 10 <= statuses.count(200) <= 11 + (time.monotonic() - started) / 6
    assert statuses.count(200) + statuses.count(429) == 60
    assert Caller(ports[0], cleo.secret).get("facts").status == 200


def test_writers_that_are_limited_and_come_back_lose_and_double_nothing(
    ana: Agent, ports: tuple[int, int]
) -> None:
    limits.set_rate(ana.key, 600)
    talk, count = uuid.uuid4(), 120

    def send(number: int) -> int:
        refused = 0
        caller = Caller(ports[number % 2], ana.secret)
        while (answer := say(caller, talk, number)).status == 429:
            refused += 1
            time.sleep(int(answer.headers["retry-after"]))
        assert answer.status == 201
        return refused

    refused = at_once(send, range(count), threads=40)
    assert sum(refused) > 0
    limits.set_rate(ana.key, 0)
    time.sleep(settings.KEY_REMEMBERED_S)
    listed = Caller(ports[0], ana.secret).get(f"messages?conversation_id={talk}&limit=200").json()
    assert sorted(item["seq"] for item in listed["items"]) == list(range(1, count + 1))
    assert len({item["content"] for item in listed["items"]}) == count


def test_a_dump_of_the_database_holds_no_secret(ana: Agent, ports: tuple[int, int]) -> None:
    made = services.rotate_key(key=ana.key, now=timezone.now())
    for secret in (ana.secret, made.secret, "mem_" + "x" * 43):
        Caller(ports[0], secret).get("facts")
    dumped = dump()
    assert str(ana.key.id) in dumped and made.key.hash in dumped
    for secret in (ana.secret, made.secret):
        assert secret not in dumped and secret[10:] not in dumped


def dump() -> str:
    """Return a whole dump of the run's database, as a backup would hold it."""
    data_dir = os.environ["MEMORY_DATA_DIR"]
    done = subprocess.run(
        [sys.executable, "-m", "memoryproject.embedded", "pg_dump", data_dir],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-1000:]
    return done.stdout


def test_what_a_process_has_counted_is_written_when_it_ends(ana: Agent) -> None:
    with web(os.environ) as port:
        caller = Caller(port, ana.secret)
        assert [caller.get("whoami").status for _ in range(3)] == [200] * 3
    usage = KeyUsage.objects.of(ana.tenant).get(key=ana.key)
    assert usage.calls == 3 and usage.errors == 0
