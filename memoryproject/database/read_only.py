"""Handles a database that takes no writes: a standby, a failover, a full disk."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.db import DatabaseError, InterfaceError, InternalError, OperationalError, connection
from psycopg.errors import ReadOnlySqlTransaction

from memoryproject.database.clock import execute


def call_it_away(
    execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Run a statement; turn PostgreSQL's read-only error into one of an unavailable database.

    Raises:
        OperationalError: the database takes no writes. The connection is closed when the request or
            job ends: the next one looks for a server that does.
    """
    try:
        return execute(sql, params, many, context)
    except InternalError as error:
        if not isinstance(error.__cause__, ReadOnlySqlTransaction):
            raise
        context["connection"].close_at = 0.0
        raise OperationalError("the database is read-only") from error.__cause__


def takes_writes() -> bool:
    """Return whether the database answers now, and would take a write."""
    with suppress(DatabaseError, InterfaceError):
        if execute("SHOW transaction_read_only") == [("off",)]:
            return True
        connection.close()  # the next connection may find a server that does
    return False
