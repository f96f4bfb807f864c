"""The databases of an embedded server: the one in use, kept copies, unfinished ones.

An upgrade keeps the old database under another name, until somebody deletes it.
"""

from datetime import UTC, datetime
from typing import NamedTuple

import psycopg
from psycopg import errors

from memoryproject.embedded.accounts import EmbeddedPostgresError
from memoryproject.embedded.bootstrap import connect_as_superuser, execute, install_extensions
from memoryproject.embedded.paths import DATABASE, OWNER_ROLE, ServerAddress

BEFORE = f"{DATABASE}_before_"
"""Prefix of the databases that an upgrade or a restore has kept."""
UNFINISHED = f"{DATABASE}_unfinished"
"""Database into which rows are copied, until it replaces the one in use."""
RESTORED = f"{DATABASE}_restored"
"""Database into which a backup is read."""
IN_USE = (
    "The database is in use, and would be copied or replaced: stop web and workers (Ctrl-C where"
    " make run runs), then try again."
)
LIST = """
SELECT datname, pg_database_size(oid) FROM pg_database WHERE starts_with(datname, %s)
ORDER BY datname DESC
"""
USERS = """
SELECT 1 FROM pg_stat_activity WHERE datname = %s AND backend_type = 'client backend' LIMIT 1
"""


class KeptDatabase(NamedTuple):
    name: str
    bytes: int


def list_kept(address: ServerAddress) -> list[KeptDatabase]:
    """Return the kept databases, newest first."""
    with connect_as_superuser(address, database="postgres") as connection:
        return [KeptDatabase(*row) for row in connection.execute(LIST, [BEFORE])]


def create(address: ServerAddress, name: str) -> None:
    """Create an empty database with our extensions; an existing one of that name is deleted."""
    delete(address, name)
    with connect_as_superuser(address, database="postgres") as connection:
        execute("CREATE DATABASE {} OWNER {}", name, OWNER_ROLE, on=connection)
    with connect_as_superuser(address, database=name) as connection:
        install_extensions(connection)


def delete(address: ServerAddress, name: str) -> None:
    with connect_as_superuser(address, database="postgres") as connection:
        execute("DROP DATABASE IF EXISTS {}", name, on=connection)


def keep_copy(address: ServerAddress) -> str:
    """Copy the database in use; return the copy's name.

    Raises:
        EmbeddedPostgresError: somebody uses it, or the disk is full.
    """
    name = _name_kept()
    try:
        with connect_as_superuser(address, database="postgres") as connection:
            # File by file: through the log every byte would be written twice.
            statement = "CREATE DATABASE {} TEMPLATE {} OWNER {} STRATEGY FILE_COPY"
            execute(statement, name, DATABASE, OWNER_ROLE, on=connection)
    except errors.ObjectInUse as error:
        raise EmbeddedPostgresError(IN_USE) from error
    except (errors.DiskFull, errors.IoError) as error:
        raise EmbeddedPostgresError(
            "There is no room for a copy of the database, which is kept before it is changed: make"
            " room, or run manage.py migrate --keep-no-copy once."
        ) from error
    return name


def put_in_use(address: ServerAddress, name: str) -> str:
    """Put a database in the place of the one in use, which is kept; return its new name.

    Both are renamed in one transaction, so after a crash at any moment one of them is in use.

    Raises:
        EmbeddedPostgresError: somebody uses one of them.
    """
    kept = _name_kept()
    try:
        with (
            connect_as_superuser(address, database="postgres") as connection,
            connection.transaction(),
        ):
            execute("ALTER DATABASE {} RENAME TO {}", DATABASE, kept, on=connection)
            execute("ALTER DATABASE {} RENAME TO {}", name, DATABASE, on=connection)
    except errors.ObjectInUse as error:
        raise EmbeddedPostgresError(IN_USE) from error
    return kept


def is_empty(address: ServerAddress, name: str = DATABASE) -> bool:
    """Return whether a database has none of our tables."""
    with connect_as_superuser(address, database=name) as connection:
        found = connection.execute("SELECT 1 FROM pg_tables WHERE schemaname = 'public' LIMIT 1")
        return found.fetchone() is None


def check_unused(address: ServerAddress) -> None:
    """Check that nobody is connected to the database in use, before it is replaced.

    Raises:
        EmbeddedPostgresError: somebody is.
    """
    with connect_as_superuser(address, database="postgres") as connection:
        if connection.execute(USERS, [DATABASE]).fetchone():
            raise EmbeddedPostgresError(IN_USE)


def lock_upgrades(address: ServerAddress, number: int) -> psycopg.Connection:
    """Return a connection that holds an advisory lock until it is closed; wait for it.

    It is a connection to the database `postgres`: one to ours would keep it from being copied.
    """
    connection = connect_as_superuser(address, database="postgres")
    connection.execute("SELECT pg_advisory_lock(%s)", [number])
    return connection


def _name_kept() -> str:
    return f"{BEFORE}{datetime.now(UTC):%Y%m%d_%H%M%S_%f}"
