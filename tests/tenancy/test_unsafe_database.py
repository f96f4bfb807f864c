"""A database that would not keep tenants apart is served to nobody, and a sentence says why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, connections
from django.test import Client

from memoryproject import embedded
from memoryproject.database.errors import UnsafeDatabase
from memoryproject.embedded.bootstrap import connect_as_superuser
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.services import create_api_key, get_or_create_tenant
from memoryproject.tenancy.walls import NOBODY, acting_for, seeing
from tests.emptying import delete_all_rows

CALM = "retrieval_contextsection"
"""A table that no call here looks at: changing it waits for nobody."""
FAULTS = {
    "superuser": (
        "ALTER ROLE memory_app SUPERUSER",
        "ALTER ROLE memory_app NOSUPERUSER",
        "superuser",
    ),
    "bypasses": (
        "ALTER ROLE memory_app BYPASSRLS",
        "ALTER ROLE memory_app NOBYPASSRLS",
        "bypasses policies",
    ),
    "owns a table": (
        f"ALTER TABLE {CALM} OWNER TO memory_app",
        f"ALTER TABLE {CALM} OWNER TO memory_owner;"
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON {CALM} TO memory_app",
        f"owns the table {CALM}",
    ),
    "not forced": (
        f"ALTER TABLE {CALM} NO FORCE ROW LEVEL SECURITY",
        f"ALTER TABLE {CALM} FORCE ROW LEVEL SECURITY",
        f"The table {CALM} shows rows of all tenants",
    ),
    "off": (
        f"ALTER TABLE {CALM} DISABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {CALM} ENABLE ROW LEVEL SECURITY",
        f"The table {CALM} shows rows of all tenants",
    ),
}


@pytest.fixture(autouse=True)
def own_connection(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Give each test connections that are made anew, outside any transaction."""
    with django_db_blocker.unblock():
        usual = connections["default"]
        connections["default"] = connections.create_connection("default")
        try:
            yield
        finally:
            connection.close()
            connections["default"] = usual
            delete_all_rows()


def as_superuser(*statements: str) -> None:
    address = embedded.locate(settings.DATA_DIR).address
    with connect_as_superuser(address, database=address.database) as boss:
        for statement in statements:
            boss.execute(statement.encode())


@contextmanager
def logged_in_as(login: str) -> Iterator[None]:
    """Let the serving connection be another login's."""
    ours = connections["default"]
    connections["default"] = connections.create_connection("default")
    connection.settings_dict = {**connection.settings_dict, "USER": login}
    try:
        yield
    finally:
        connection.close()
        connections["default"] = ours


@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_served_until_the_database_keeps_tenants_apart(fault: str) -> None:
    spoil, mend, words = FAULTS[fault]
    secret = create_api_key(tenant=get_or_create_tenant(name="ana's"), name="ana").secret
    agent = Client(headers={"authorization": f"Bearer {secret}"}, SERVER_NAME="localhost")
    assert agent.get("/api/v0/facts").status_code == 200
    as_superuser(spoil)
    try:
        ready = agent.get("/api/v0/health/ready")
        assert ready.status_code == 503 and words in ready.json()["message"]
        assert list(ready.json()["fields"]) == ["walls"]
        for _ in range(2):  # the second one, too, opens a connection that is looked at
            connection.close()
            refused = agent.get("/api/v0/facts")
            assert refused.status_code == 503 and refused["Retry-After"]
            assert refused.json()["code"] == "unavailable" and words in refused.json()["message"]
        assert agent.get("/api/v0/health/live").status_code == 200
    finally:
        as_superuser(mend)
    assert agent.get("/api/v0/facts").status_code == 200
    assert agent.get("/api/v0/health/ready").status_code == 200


def test_a_login_that_may_not_act_as_the_role_is_told_what_to_grant() -> None:
    as_superuser("CREATE ROLE stranger LOGIN")
    try:
        with (
            logged_in_as("stranger"),
            pytest.raises(UnsafeDatabase, match="GRANT memory_app TO the login"),
        ):
            Tenant.objects.count()
    finally:
        as_superuser("DROP ROLE stranger")


@pytest.mark.parametrize("login", [embedded.OWNER_ROLE, embedded.SUPERUSER])
def test_whoever_logs_in_each_statement_steps_down(login: str) -> None:
    """A pooler that ignores `options` changes nothing: none are sent."""
    ana, cleo = get_or_create_tenant(name="ana's"), get_or_create_tenant(name="cleo's")
    with logged_in_as(login):
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_user, session_user")
            assert cursor.fetchone() == ("memory_app", login)
        with acting_for(ana.id):
            assert list(Tenant.objects.all()) == [ana]
        with acting_for(cleo.id):
            assert list(Tenant.objects.all()) == [cleo]
        with seeing(NOBODY):
            assert not Tenant.objects.exists()
        assert "options" not in connection.get_connection_params()


def test_a_statement_past_the_walls_shows_nothing_even_to_the_owner() -> None:
    get_or_create_tenant(name="ana's")
    with logged_in_as(embedded.OWNER_ROLE):
        connection.ensure_connection()
        assert connection.connection.execute("SELECT * FROM tenancy_tenant").fetchall() == []
