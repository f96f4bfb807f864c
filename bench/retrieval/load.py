"""Filling the tables by COPY, in the order in which everything would arrive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack

from django.db import models
from pgvector.psycopg import register_vector
from psycopg import sql

from bench.retrieval import databases
from bench.retrieval.databases import Connection
from bench.retrieval.rows import (
    CHANGESET_COLUMNS,
    COLUMNS,
    CONVERSATION_COLUMNS,
    Directions,
    Row,
    RowMaker,
    Rows,
    conversation_rows,
    fill_in,
)
from bench.retrieval.wording import Wording
from bench.retrieval.workers import Work
from episodic.models import Conversation
from indexing.models import SearchUnit
from semantic.models import Changeset

HAS_TRIGGERS = """
SELECT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal)
"""
COLUMN_TYPES = """
SELECT attname, atttypid FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped
"""


def prepare(connection: Connection) -> None:
    """Let a session load without waiting for the disk."""
    connection.execute("SET synchronous_commit = off")
    register_vector(connection)


def rest_references(connection: Connection, table: str) -> None:
    """Rest foreign keys for what comes next, where a table has no other triggers.

    The rows are right by construction; a million lookups by key would only cost time.
    But triggers that keep figures must run, and the two rest together only.
    """
    (has_triggers,) = connection.execute(HAS_TRIGGERS, [table]).fetchone() or (True,)
    role = "origin" if has_triggers else "replica"
    connection.execute(sql.SQL("SET session_replication_role = {}").format(sql.Literal(role)))


def load_conversations(full: Connection, small: Connection, work: Work) -> None:
    """Insert the conversations, all of them into the full database."""
    rows = list(conversation_rows(work.plan, work.owner))
    ours = [row for row in rows if work.plan.small[row[0]]]
    for connection, chosen in ((full, rows), (small, ours)):
        with connection.transaction():
            copy(connection, Conversation, CONVERSATION_COLUMNS, [row[1] for row in chosen])
            copy(connection, Changeset, CHANGESET_COLUMNS, [row[2] for row in chosen])


class Loader:
    """Loads both databases; the small one gets some of the conversations, row for row.

    All indexes stand while rows come in, as they do in a server's life.
    """

    def __init__(self, work: Work) -> None:
        self._plan = work.plan
        self._maker = RowMaker(
            work.plan,
            work.owner,
            Wording(seed=work.plan.seed),
            Directions(seed=work.plan.seed, dim=work.owner.dim),
        )
        self._open = ExitStack()
        self._full, self._small = (
            self._open.enter_context(databases.superuser(name))
            for name in (databases.FULL, databases.SMALL)
        )
        for connection in (self._full, self._small):
            prepare(connection)

    def load(self, first: int, last: int) -> int:
        """Load the episodes first … last − 1 and return how many search units they have."""
        made = list(self._maker.make(first, min(last, self._plan.episodes)))
        _copy_all(self._full, [rows for _, rows in made])
        _copy_all(self._small, [rows for index, rows in made if self._plan.small[index]])
        return sum(len(rows[SearchUnit]) for _, rows in made)


def settle(connection: Connection) -> None:
    """Bring statistics and visibility maps up to date, and the rows to disk."""
    connection.execute("VACUUM (ANALYZE)")
    connection.execute("CHECKPOINT")


def _copy_all(connection: Connection, made: Iterable[Rows]) -> None:
    episodes = list(made)
    with connection.transaction():
        for model, columns in COLUMNS.items():
            copy(connection, model, columns, [row for rows in episodes for row in rows[model]])


def copy(
    connection: Connection,
    model: type[models.Model],
    columns: tuple[str, ...],
    rows: Sequence[Row],
) -> None:
    """Append rows to a model's table; what `columns` leaves out gets its default."""
    rest = fill_in(model, columns)
    names, constants = (*columns, *rest), tuple(rest.values())
    table = model._meta.db_table
    rest_references(connection, table)
    types: dict[str, int] = dict(connection.execute(COLUMN_TYPES, [table]).fetchall())
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, names))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as out:
        out.set_types([types[name] for name in names])
        for row in rows:
            out.write_row((*row, *constants))
