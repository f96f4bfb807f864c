"""An empty database after a test that commits: its rows go, what the migrations made stays.

Django would TRUNCATE: that makes the files of all tables and indexes anew, hundreds of them,
and takes the roles with it.
"""

from __future__ import annotations

import os
from typing import Any

import psycopg
from django.conf import settings
from psycopg import sql

from memoryproject import embedded
from memoryproject.embedded.bootstrap import connect_as_superuser
from tests.cluster import nodes

MADE_BY_MIGRATIONS = [
    "auth_group",
    "auth_group_permissions",
    "auth_permission",
    "django_content_type",
    "django_migrations",
]
LARGE = 1024 * 1024
"""Bytes of a table, from which on what is left of its rows would slow the next tests down."""


def delete_all_rows(*_: Any) -> None:
    """Delete what was committed, whatever keeps history or points to it."""
    address = embedded.locate(settings.DATA_DIR).address
    if nodes.RUNS in os.environ:
        nodes.empty_shards(settings.DATA_DIR)
    with connect_as_superuser(address, database=address.database) as connection:
        connection.execute("SET session_replication_role = replica")  # no triggers, no checks
        tables = _own_tables(connection)
        with connection.transaction():
            for name, _size in tables:
                connection.execute(sql.SQL("DELETE FROM {}").format(name))
        for name, size in tables:
            if size > LARGE:
                connection.execute(sql.SQL("VACUUM {}").format(name))


def _own_tables(connection: psycopg.Connection) -> list[tuple[sql.Identifier, int]]:
    found = connection.execute(
        "SELECT relname, pg_relation_size(oid) FROM pg_class"
        " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL(%s)"
        f" AND oid NOT IN ({nodes.list_distributed()})",
        [MADE_BY_MIGRATIONS],
    )
    return [(sql.Identifier(name), size) for name, size in found]
