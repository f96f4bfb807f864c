"""Setup that only the superuser may do in a new server: roles, the database, extensions."""

from typing import LiteralString

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from memoryproject.embedded.binaries import without_pg_variables
from memoryproject.embedded.paths import APP_ROLE, DATABASE, OWNER_ROLE, SUPERUSER, ServerAddress

# `vector` is not a trusted extension: the owner of the database may not create it.
EXTENSIONS = ("vector", "btree_gist")


def superuser_conninfo(address: ServerAddress, *, database: str) -> str:
    return make_conninfo(
        host=address.host,
        port=address.port,
        user=SUPERUSER,
        dbname=database,
        options="-c client_min_messages=warning",
        connect_timeout=10,
    )


def connect_as_superuser(address: ServerAddress, *, database: str) -> psycopg.Connection:
    with without_pg_variables():
        return psycopg.connect(superuser_conninfo(address, database=database), autocommit=True)


def bootstrap(address: ServerAddress) -> None:
    """Create whatever is missing; safe to repeat after a crash at any point.

    Call it under the start lock: two at once would race for CREATE ROLE.
    """
    with connect_as_superuser(address, database="postgres") as connection:
        _ensure_roles(connection)
        query = "SELECT 1 FROM pg_database WHERE datname = %s"
        if connection.execute(query, [DATABASE]).fetchone() is None:
            execute("CREATE DATABASE {} OWNER {}", DATABASE, OWNER_ROLE, on=connection)
    with connect_as_superuser(address, database=DATABASE) as connection:
        install_extensions(connection)


def install_extensions(connection: psycopg.Connection) -> None:
    """Create our extensions in the connected database, or update them."""
    for name in EXTENSIONS:
        execute("CREATE EXTENSION IF NOT EXISTS {}", name, on=connection)
        execute("ALTER EXTENSION {} UPDATE", name, on=connection)


def _ensure_roles(connection: psycopg.Connection) -> None:
    existing = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
    for name in (OWNER_ROLE, APP_ROLE):
        if name not in existing:
            execute("CREATE ROLE {}", name, on=connection)
        execute("ALTER ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEROLE", name, on=connection)
    execute("GRANT {} TO {}", APP_ROLE, OWNER_ROLE, on=connection)


def execute(statement: LiteralString, *names: str, on: psycopg.Connection) -> None:
    """Run a statement with the names quoted."""
    on.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
