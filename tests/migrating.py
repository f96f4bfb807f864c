"""Databases on which a test may migrate forth and back: the other tests keep theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import psycopg
from django.db import connections

from tests.template import MIGRATED


def empty_database(name: str) -> AbstractContextManager[None]:
    """Let the migrations write to a database of this test's own."""
    return _own_database(name, template="template1")


def migrated_database(name: str) -> AbstractContextManager[None]:
    """Give a test a database of its own on which all migrations have just run."""
    return _own_database(name, template=MIGRATED)


@contextmanager
def _own_database(name: str, *, template: str) -> Iterator[None]:
    owner = connections["owner"]
    original = owner.settings_dict["NAME"]
    with _connect_elsewhere() as admin:
        admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    try:
        owner.close()
        owner.settings_dict["NAME"] = name
        yield
    finally:
        owner.close()
        owner.settings_dict["NAME"] = original
        with _connect_elsewhere() as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _connect_elsewhere() -> psycopg.Connection:
    """Return the owner's connection to a database that no test uses."""
    place = connections["owner"].settings_dict
    return psycopg.connect(
        dbname="postgres",
        autocommit=True,
        host=place["HOST"],
        port=place["PORT"],
        user="memory_owner",
    )
