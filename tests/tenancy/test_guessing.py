"""Who sends wrong keys is slowed down, by address; who has a right one is not."""

from __future__ import annotations

import time
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.http import HttpRequest
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memoryproject.edge.callers import client_address, neighbourhood
from memoryproject.tenancy import guessing, services
from memoryproject.tenancy.models import APIKey
from memoryproject.tenancy.secret_form import hash_secret, make_secret
from tests.api.problems import assert_problem
from tests.conftest import Agent

pytestmark = pytest.mark.django_db
HERE, THERE = "203.0.113.5", "203.0.113.6"


@pytest.fixture(autouse=True)
def few_failures(settings: Any) -> None:
    """Three wrong keys a minute, one of them comes back after twenty seconds."""
    settings.KEY_FAILURES = 3
    settings.KEY_REMEMBERED_S = -1.0
    services._found_keys.clear()


def ask(secret: str, *, address: str = HERE, **headers: str) -> Any:
    client = Client(SERVER_NAME="localhost", REMOTE_ADDR=address)
    return client.get("/api/v0/facts", headers={"authorization": f"Bearer {secret}", **headers})


def wrong_key() -> str:
    """Return a secret of the older form, of which only a look can tell that it is wrong."""
    return make_secret()[:47]


def guess(times: int, **how: str) -> list[int]:
    return [ask(wrong_key(), **how).status_code for _ in range(times)]


def test_after_some_wrong_keys_an_address_is_told_to_wait() -> None:
    assert guess(5) == [401, 401, 401, 429, 429]
    refused = ask(wrong_key())
    assert assert_problem(refused, 429)["code"] == "too_fast"
    assert 5 <= int(refused["Retry-After"]) <= 20, "twenty, less what the calls took"


def test_an_address_that_is_told_to_wait_costs_the_database_nothing() -> None:
    guess(3)
    with CaptureQueriesContext(connection) as asked:
        for secret in (wrong_key(), make_secret()[:-1], "x", "mem_", "é"):
            assert ask(secret).status_code in {401, 429}
    assert not [query for query in asked if "tenancy_apikey" in query["sql"]]


def test_a_right_key_opens_from_the_same_address(ana: Agent) -> None:
    assert guess(4)[-1] == 429
    assert ask(ana.secret).status_code == 200
    assert guess(1) == [429]


def test_a_right_key_of_the_older_form_opens_where_this_process_has_seen_it(ana: Agent) -> None:
    old = make_secret()[:47]
    APIKey.objects.of(ana.tenant).update(hash=hash_secret(old))
    assert ask(old).status_code == 200
    assert guess(4)[-1] == 429
    assert ask(old).status_code == 200
    services._found_keys.clear()
    assert ask(old).status_code == 429
    assert ask(old, address=THERE).status_code == 200


def test_a_revoked_key_is_looked_up_once_from_an_address_that_waits(ana: Agent) -> None:
    services.revoke_api_key(key=ana.key, now=timezone.now())
    guess(3)
    with CaptureQueriesContext(connection) as asked:
        assert [ask(ana.secret).status_code for _ in range(4)] == [401, 429, 429, 429]
    assert len([query for query in asked if "tenancy_apikey" in query["sql"]]) == 1


def test_other_addresses_are_left_alone() -> None:
    guess(4)
    assert guess(1, address=THERE) == [401]


def test_one_subscriber_of_ipv6_is_one_place() -> None:
    guess(3, address="2001:db8:1:2::5")
    assert guess(1, address="2001:db8:1:2:ffff::9") == [429]
    assert guess(1, address="2001:db8:1:3::5") == [401]


@pytest.mark.parametrize("later", [0, 1 / 3, 0.1, 1e6 / 7])
def test_it_is_over_after_a_while(monkeypatch: pytest.MonkeyPatch, later: float) -> None:
    now = time.monotonic() + later
    monkeypatch.setattr(time, "monotonic", lambda: now)
    assert guess(4)[-1] == 429
    monkeypatch.setattr(time, "monotonic", lambda: now + 20.1)
    assert guess(2) == [401, 429]
    monkeypatch.setattr(time, "monotonic", lambda: now + 90)
    assert guess(4) == [401, 401, 401, 429]


def test_calls_without_a_key_do_not_count() -> None:
    client = Client(SERVER_NAME="localhost", REMOTE_ADDR=HERE)
    assert {client.get("/api/v0/facts").status_code for _ in range(9)} == {401}
    assert guess(1) == [401]


def test_memory_of_addresses_has_an_end(settings: Any) -> None:
    settings.GUESSERS_REMEMBERED = 10
    for number in range(50):
        for _ in range(3):
            guessing.note_wrong_key(f"10.0.0.{number}")
    assert len(guessing._forgiven_at) == 10
    assert guessing.is_slowed("10.0.0.49") and not guessing.is_slowed("10.0.0.0")


# ---- where a call comes from


def address_of(nearest: str, told: str | None = None) -> str | None:
    request = HttpRequest()
    request.META["REMOTE_ADDR"] = nearest
    if told is not None:
        request.META["HTTP_X_FORWARDED_FOR"] = told
    return client_address(request)


@pytest.mark.parametrize(
    ("proxies", "told", "found"),
    [
        (0, None, "10.0.0.1"),
        (0, "1.1.1.1", "10.0.0.1"),
        (1, None, "10.0.0.1"),
        (1, "9.9.9.9", "9.9.9.9"),
        (1, "1.1.1.1, 9.9.9.9", "9.9.9.9"),
        (1, "1.1.1.1,9.9.9.9:4711", "9.9.9.9"),
        (1, "[2001:db8::1]:4711", "2001:db8::1"),
        (1, "2001:DB8::1", "2001:db8::1"),
        (1, "::ffff:9.9.9.9", "9.9.9.9"),
        (1, "fe80::1%eth0", "fe80::1"),
        (1, "unknown", "10.0.0.1"),
        (1, "9.9.9.9, <script>", "10.0.0.1"),
        (1, ", ,", "10.0.0.1"),
        (2, "1.1.1.1, 9.9.9.9, 10.0.0.2", "9.9.9.9"),
        (2, "9.9.9.9", "9.9.9.9"),
        (10, "1.1.1.1, 9.9.9.9", "1.1.1.1"),
    ],
)
def test_the_address_is_what_the_outermost_proxy_of_ours_saw(
    settings: Any, proxies: int, told: str | None, found: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    assert address_of("10.0.0.1", told) == found


@pytest.mark.parametrize("nearest", ["", "unix:", "no address"])
def test_behind_a_local_socket_there_is_no_address(nearest: str) -> None:
    assert address_of(nearest) is None and neighbourhood(None) == ""


def test_what_a_client_writes_itself_makes_it_nobody_else(settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    statuses = [
        ask(wrong_key(), address="10.0.0.1", x_forwarded_for=f"1.1.1.{number}, 9.9.9.9")
        for number in range(5)
    ]
    assert [answer.status_code for answer in statuses] == [401, 401, 401, 429, 429]
    other = ask(wrong_key(), address="10.0.0.1", x_forwarded_for="9.9.9.8")
    assert other.status_code == 401


def test_people_behind_a_proxy_are_locked_by_their_own_address(settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1

    def log_in(told: str) -> int:
        browser = Client(SERVER_NAME="localhost", REMOTE_ADDR="10.0.0.1")
        given = {"username": f"nobody {uuid.UUID(int=0)}", "password": "wrong"}
        return browser.post("/admin/login/", given, headers={"x-forwarded-for": told}).status_code

    statuses = [log_in("1.1.1.1, 9.9.9.9") for _ in range(settings.AXES_FAILURE_LIMIT)]
    assert statuses[-1] == 429
    assert log_in("9.9.9.8") == 200


def test_a_key_that_expired_is_a_wrong_key(ana: Agent) -> None:
    APIKey.objects.of(ana.tenant).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert [ask(ana.secret).status_code for _ in range(3)] == [401] * 3
    assert guess(1) == [429]
