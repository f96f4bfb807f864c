"""Databases on which a test may migrate forth and back: the other tests keep theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connections


@contextmanager
def empty_database(name: str) -> Iterator[None]:
    """Let the migrations write to a database of this test's own."""
    owner = connections["owner"]
    place = {
        "host": owner.settings_dict["HOST"],
        "port": owner.settings_dict["PORT"],
        "user": "memory_owner",
    }
    with psycopg.connect(dbname="memory", autocommit=True, **place) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    original = owner.settings_dict["NAME"]
    try:
        owner.close()
        owner.settings_dict["NAME"] = name
        yield
    finally:
        owner.close()
        owner.settings_dict["NAME"] = original
        with psycopg.connect(dbname="memory", autocommit=True, **place) as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
