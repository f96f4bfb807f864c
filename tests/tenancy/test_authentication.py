"""Without a valid key nothing is told, and the answer says how to send one."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from memoryproject import urls
from memoryproject.tenancy import services
from memoryproject.tenancy.models import APIKey
from memoryproject.tenancy.views import KeyedView
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.fresh import ana as ana

pytestmark = pytest.mark.django_db


def ask(authorization: str | None) -> Any:
    client = Client(SERVER_NAME="localhost")
    headers = {} if authorization is None else {"authorization": authorization}
    return client.get("/api/v0/facts", headers=headers)


def assert_unauthorized(answer: Any) -> None:
    assert_problem(answer, 401)
    assert answer["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_key_opens(ana: Agent, scheme: str) -> None:
    assert ask(f"{scheme} {ana.secret}").status_code == 200


@pytest.mark.parametrize(
    "authorization",
    [None, "", " ", "Bearer", "Bearer ", "Bearer {key} x", "Basic {key}", "Token {key}", "{key}",
     "Bearer: {key}", "Bearer{key}", "Bearer {key}x", "Bearer x{key}", "Bearer mem_", "Bearer \0",
     'Bearer "{key}"', "Bearer é", "Bearer {prefix}", "Bearer {hash}",
     "Bearer " + "x" * 100_000, "Bearer ' OR 1=1 --"],
)  # fmt: skip
def test_anything_else_does_not(ana: Agent, authorization: str | None) -> None:
    if authorization is not None:
        names = {"key": ana.secret, "prefix": ana.key.prefix, "hash": ana.key.hash}
        authorization = authorization.format(**names)
    answer = ask(authorization)
    assert_unauthorized(answer)
    assert ana.secret not in answer.content.decode()


def test_no_key_is_asked_for_in_words(db: None) -> None:
    assert "Authorization: Bearer <key>" in assert_problem(ask(None), 401)["message"]


def test_a_key_in_the_query_string_or_a_cookie_is_no_key(ana: Agent) -> None:
    client = Client(SERVER_NAME="localhost")
    client.cookies["Authorization"] = ana.secret
    for name in ("key", "api_key", "token", "access_token"):
        assert_unauthorized(client.get("/api/v0/facts", {name: ana.secret}))


def test_a_revoked_key_is_refused_within_a_second(ana: Agent) -> None:
    assert ana.get("facts").status_code == 200
    APIKey.objects.of(ana.tenant).filter(id=ana.key.id).update(revoked_at=timezone.now())
    time.sleep(1)
    assert_unauthorized(ana.get("facts"))


def test_a_key_that_expires_is_refused_from_that_moment_on(ana: Agent) -> None:
    now = timezone.now()
    made = services.create_api_key(
        tenant=ana.tenant, name="x", expires_at=now + timedelta(seconds=60)
    )
    assert services.find_key(secret=made.secret, now=now) == made.key
    assert services.find_key(secret=made.secret, now=now + timedelta(seconds=60)) is None


def test_an_expired_key_is_refused(ana: Agent) -> None:
    now = timezone.now()
    for expires_at, status in ((now - timedelta(seconds=1), 401), (now + timedelta(hours=1), 200)):
        made = services.create_api_key(tenant=ana.tenant, name="x", expires_at=expires_at)
        assert ask(f"Bearer {made.secret}").status_code == status


def test_a_key_seen_lately_counts_for_a_while_without_being_asked_about(
    ana: Agent, settings: Settings
) -> None:
    now = timezone.now()

    def is_seen(at: Any = now) -> bool:
        with CaptureQueriesContext(connection) as captured:
            found = services.find_key_seen_lately(secret=ana.secret, now=at)
        assert not captured.captured_queries
        return found is not None

    assert not is_seen()
    assert services.find_key(secret=ana.secret, now=now) == ana.key
    assert is_seen()
    APIKey.objects.of(ana.tenant).update(expires_at=now + timedelta(seconds=9))
    settings.KEY_REMEMBERED_S = 0.0
    services.find_key(secret=ana.secret, now=now)
    assert is_seen() and not is_seen(now + timedelta(seconds=9))
    settings.KEY_VOUCHED_S = 0.0
    assert not is_seen()
    settings.KEY_VOUCHED_S = 300.0
    assert is_seen()
    services.revoke_api_key(key=ana.key, now=now)
    assert not is_seen()


def test_a_bad_key_is_told_before_a_bad_body(db: None) -> None:
    client = Client(SERVER_NAME="localhost")
    for body in (b"", b"{", b"\xff"):
        answer = client.post("/api/v0/add_message", body, content_type="application/json")
        assert_unauthorized(answer)


def test_a_login_of_the_admin_is_no_key(admin_client: Client) -> None:
    assert_unauthorized(admin_client.get("/api/v0/facts", headers={"host": "localhost"}))


@pytest.mark.parametrize("path", ["health/live", "health/ready"])
def test_health_needs_no_key(db: None, path: str) -> None:
    assert Client(SERVER_NAME="localhost").get(f"/api/v0/{path}").status_code == 200


def test_the_secret_stands_nowhere_in_the_database(ana: Agent) -> None:
    ana.get("facts")
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT t::text FROM "{table}" t')
            text = "\n".join(row for (row,) in cursor.fetchall())
            assert ana.secret not in text and ana.secret[10:] not in text, table


def test_the_database_is_asked_for_the_hash_alone(ana: Agent, settings: Settings) -> None:
    settings.KEY_REMEMBERED_S = -1.0
    with CaptureQueriesContext(connection) as asked:
        assert ana.get("facts").status_code == 200
    statements = "\n".join(query["sql"] for query in asked)
    assert ana.key.hash in statements
    assert ana.secret not in statements and ana.secret[10:] not in statements


def test_the_last_use_is_remembered(ana: Agent) -> None:
    keys = APIKey.objects.of(ana.tenant)
    assert keys.get(id=ana.key.id).last_used_at is None
    before = timezone.now()
    ana.get("facts")
    used = keys.get(id=ana.key.id).last_used_at
    assert used is not None and before <= used <= timezone.now()
    ana.get("facts")
    assert keys.get(id=ana.key.id).last_used_at == used, "within a minute it is not written again"


def test_every_call_asks_for_a_key_or_is_known_to_need_none() -> None:
    """A call that forgets to ask would be open; a key without a tenant cannot be stored."""
    open_calls = {"health/live", "health/ready", "schema/", "docs/"}
    for route in urls.api:
        view = getattr(route.callback, "cls", object)
        assert issubclass(view, KeyedView) is (str(route.pattern) not in open_calls), route
    patterns: list[Any] = urls.urlpatterns
    prefixes = {str(pattern.pattern).lstrip("^").split("/")[0] for pattern in patterns}
    assert prefixes == {"", "admin", "api", "favicon.ico", "metrics"}
