"""What only the superuser may do in a new server: roles, the database, extensions."""

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

    Call it under the starter's lock: two at once would race for CREATE ROLE.
    """
    with connect_as_superuser(address, database="postgres") as connection:
        _ensure_roles(connection)
        _ensure_database(connection)
    with connect_as_superuser(address, database=DATABASE) as connection:
        install_extensions(connection)


def install_extensions(connection: psycopg.Connection) -> None:
    """Create our extensions in the connected database, or bring them to the binaries' version."""
    for name in EXTENSIONS:
        extension = sql.Identifier(name)
        connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(extension))
        connection.execute(sql.SQL("ALTER EXTENSION {} UPDATE").format(extension))


def _ensure_roles(connection: psycopg.Connection) -> None:
    existing = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
    for name in (OWNER_ROLE, APP_ROLE):
        role = sql.Identifier(name)
        if name not in existing:
            connection.execute(sql.SQL("CREATE ROLE {}").format(role))
        connection.execute(
            sql.SQL("ALTER ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEROLE").format(role)
        )
    connection.execute(
        sql.SQL("GRANT {} TO {}").format(sql.Identifier(APP_ROLE), sql.Identifier(OWNER_ROLE))
    )


def _ensure_database(connection: psycopg.Connection) -> None:
    query = "SELECT 1 FROM pg_database WHERE datname = %s"
    if connection.execute(query, [DATABASE]).fetchone() is None:
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER {}").format(
                sql.Identifier(DATABASE), sql.Identifier(OWNER_ROLE)
            )
        )
