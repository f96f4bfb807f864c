"""A database of one's own, named by one URL, in place of the embedded one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import quote

import psycopg
import pytest
from django.conf import settings
from django.db import connections

NAME = "memory_elsewhere"


@pytest.fixture
def url(django_db_setup: None) -> Iterator[str]:
    place = connections["owner"].settings_dict
    where = {"host": place["HOST"], "port": place["PORT"], "user": "memory_owner"}
    with psycopg.connect(dbname="memory", autocommit=True, **where) as owner:
        owner.execute(f"CREATE DATABASE {NAME}")
        try:
            socket = quote(str(place["HOST"]), safe="")
            yield f"postgresql://memory_owner@{socket}:{place['PORT']}/{NAME}"
        finally:
            owner.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


@pytest.mark.gate
def test_the_owner_migrates_and_the_server_steps_down_to_its_role(url: str) -> None:
    assert manage("migrate", "-v0", DATABASE_URL=url).returncode == 0
    made = manage("create_api_key", "--tenant", "far", DATABASE_URL=url)
    assert made.returncode == 0 and made.stdout.startswith("mem_")
    asked = manage(
        "shell", "-v0", "-c",
        "from django.db import connection as c; k = c.cursor(); "
        "k.execute('SELECT current_user, session_user'); print(k.fetchone())",
        DATABASE_URL=url,
    )  # fmt: skip
    assert "('memory_app', 'memory_owner')" in asked.stdout, asked.stderr


@pytest.mark.gate
def test_a_database_that_would_not_keep_tenants_apart_is_named_in_one_sentence(url: str) -> None:
    assert manage("migrate", "-v0", DATABASE_URL=url).returncode == 0
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("ALTER TABLE semantic_fact NO FORCE ROW LEVEL SECURITY")
    done = manage("check", "--database", "default", DATABASE_URL=url)
    assert done.returncode == 1
    assert done.stderr.startswith("error: The table semantic_fact shows rows"), done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("wrong", ["postgresql//nowhere", "mysql://a@b/c"])
def test_a_url_that_is_none_is_refused_in_one_sentence(wrong: str) -> None:
    done = manage("check", DATABASE_URL=wrong)
    assert done.returncode == 1
    assert done.stderr.startswith("error: DATABASE_URL must look like"), done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.gate
def test_a_server_that_is_away_is_named_in_one_sentence() -> None:
    done = manage("migrate", DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    assert done.returncode == 1
    assert done.stderr.startswith("error: the database cannot be reached"), done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("MEMORY_LLM", "oracle"), ("MEMORY_WORKERS", "0"), ("MEMORY_HTTPS", "maybe")],
)
def test_a_setting_that_cannot_be_used_is_named_in_one_sentence(name: str, value: str) -> None:
    done = manage("check", **{name: value})
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {name} must") and done.stderr.count("\n") == 1


def test_a_setting_that_is_gone_is_named_not_passed_over() -> None:
    done = manage("check", MEMORY_LANGUAGE="german", MEMORY_PAGE_BYTES_FILE="/run/secrets/bytes")
    assert done.returncode == 0, done.stderr
    for name in ("MEMORY_LANGUAGE", "MEMORY_PAGE_BYTES"):
        assert f"{name} is set, and no longer a setting" in done.stderr
