"""Runs our own SQL statements, and reads the database's clock."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import dropwhile
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg.sql import Composed

Params = Sequence[Any] | Mapping[str, Any] | None


def execute(
    statement: str | Composed, params: Params = None, *, using: str = DEFAULT_DB_ALIAS
) -> list[Any]:
    """Run one statement; return its rows, if it returns any."""
    with connections[using].cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall() if cursor.description else []


@cache
def read_sql(module: str, name: str) -> str:
    """Return a file in the folder `sql` beside a module, without its header comment."""
    lines = (Path(module).parent / "sql" / name).read_text(encoding="utf-8").splitlines(True)
    return "".join(dropwhile(lambda line: line.startswith("--"), lines))


def read_database_clock() -> datetime:
    """Return the database's time, which also advances within a transaction."""
    now: datetime = execute("SELECT clock_timestamp()")[0][0]
    return now
