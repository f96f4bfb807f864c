"""Copies the rows of a database into one with this version's schema, table by table.

Both are databases of the embedded server. Tables and columns that only the old one has are named,
and stay in it. Triggers do not fire, so their counts are copied or counted again.
"""

from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from django.apps import apps
from django.db import connections, models
from psycopg import sql

from memoryproject.embedded import EmbeddedPostgresError, ServerAddress
from memoryproject.embedded.bootstrap import connect_as_superuser

NOT_CARRIED = ("django_migrations", "tenancy_allowance", "tenancy_installation")
"""Tables about one database only. Allowances start full again, as after a crash."""
TABLES = (
    "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
)
COLUMNS = """
SELECT attname, attnotnull AND NOT atthasdef AND attidentity = '', atthasdef AND attgenerated <> ''
FROM pg_attribute
WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
SEQUENCES = """
SELECT format('SELECT setval(%%L, greatest(1, (SELECT max(%%I) FROM public.%%I)))',
    pg_get_serial_sequence(format('public.%%I', relname), attname), attname, relname)
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relname = ANY(%s) AND relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND attnum > 0 AND NOT attisdropped
    AND pg_get_serial_sequence(format('public.%%I', relname), attname) IS NOT NULL
"""
Connection = psycopg.Connection[Any]


def carry_rows(
    address: ServerAddress, *, source: str, target: str, report: Callable[[str], None]
) -> None:
    """Copy all rows of `source` into `target`, whose tables are migrated; all or nothing.

    Rows that migrations wrote into `target` are deleted first: `source` has its own.

    Raises:
        EmbeddedPostgresError: rows do not fit the tables; the message names them.
    """
    with (
        connect_as_superuser(address, database=source) as old,
        connect_as_superuser(address, database=target) as new,
        old.transaction(),
        new.transaction(),
    ):
        old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        new.execute("SET LOCAL session_replication_role = replica")  # no triggers, no order
        here, there = _list_tables(new), _list_tables(old)
        tables = [table for table in here if table not in NOT_CARRIED]
        new.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(map(sql.Identifier, tables))))
        for table in sorted(set(there) - set(here)):
            if count := _count(old, table):
                report(f"Left behind: the table {table} with {count} rows, which is used no more.")
        for table in tables:
            if table in there:
                _carry_table(old, new, table, report)
        for (statement,) in new.execute(SEQUENCES, [tables]).fetchall():
            new.execute(statement)


def _list_tables(connection: Connection) -> list[str]:
    return sorted(name for (name,) in connection.execute(TABLES))


def _count(connection: Connection, table: str) -> int:
    statement = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
    row = connection.execute(statement).fetchone()
    return int(row[0]) if row else 0


def _carry_table(
    old: Connection, new: Connection, table: str, report: Callable[[str], None]
) -> None:
    count = _count(old, table)
    if not count:
        return
    there = [name for name, _, is_made in _read_columns(old, table) if not is_made]
    here = {name: needed for name, needed, is_made in _read_columns(new, table) if not is_made}
    gone = [name for name in there if name not in here]
    if gone:
        report(f"Left behind of {table}: {', '.join(gone)}, which is used no more.")
    added = [name for name, is_needed in here.items() if is_needed and name not in there]
    for column in added:
        _alter_default(new, table, column, "SET DEFAULT {}", _find_default(table, column))
    try:
        _copy(old, new, table, [name for name in there if name in here])
    except (psycopg.DataError, psycopg.IntegrityError) as error:
        reason = error.diag.constraint_name or type(error).__name__  # never what is in a row
        raise EmbeddedPostgresError(
            f"Rows of {table} do not fit this version ({reason}): start the version so far on the"
            " folder, in which nothing was changed, and report this."
        ) from error
    for column in added:
        _alter_default(new, table, column, "DROP DEFAULT")
    if (carried := _count(new, table)) != count:
        raise EmbeddedPostgresError(f"{table} has {count} rows, of which {carried} were carried.")


def _read_columns(connection: Connection, table: str) -> list[tuple[str, bool, bool]]:
    """Return columns by name, with whether each is required, and whether it is generated."""
    return connection.execute(COLUMNS, [f'public."{table}"']).fetchall()


def _copy(old: Connection, new: Connection, table: str, columns: Sequence[str]) -> None:
    what = sql.SQL("{} ({})").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with (
        old.cursor().copy(sql.SQL("COPY {} TO STDOUT").format(what)) as rows,
        new.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(what)) as copied,
    ):
        for part in rows:
            copied.write(part)


def _find_default(table: str, column: str) -> Any:
    """Return the default of a column in a table's model."""
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.local_fields if model._meta.db_table == table else ():
            if field.column == column and field.default is not models.NOT_PROVIDED:
                return field.get_db_prep_save(field.get_default(), connections["owner"])
    raise EmbeddedPostgresError(
        f"The rows of {table} lack the column {column}, and no default is known for it."
    )


def _alter_default(new: Connection, table: str, column: str, change: str, *values: Any) -> None:
    literals = [sql.Literal(value) for value in values]
    statement = sql.SQL("ALTER TABLE {} ALTER COLUMN {} ").format(
        sql.Identifier(table), sql.Identifier(column)
    )
    new.execute(statement + sql.SQL(change).format(*literals))
