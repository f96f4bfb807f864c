"""Django's PostgreSQL backend, with role and tenant set by each statement itself.

`SET LOCAL` is sent before the statement in the same message, so it costs no round trip and ends
with the transaction. Nothing depends on the session, which a pooler may lend to another client
after each transaction.

Citus passes each `SET LOCAL` to the nodes with the whole message around it. For Citus all are sent
as separate messages, in one pipeline.
"""

import select
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NoReturn, Self

from django.db import NotSupportedError
from django.db.backends.postgresql import base, operations
from psycopg import ClientCursor
from psycopg.pq import TransactionStatus

from memoryproject.database.read_only import call_it_away
from memoryproject.edge import deadlines
from memoryproject.tenancy import walls
from memoryproject.tenancy.postgresql.look import check_pepper, check_walls
from memoryproject.tenancy.postgresql.schema import SchemaEditor

LATE_S, REPLICA_LATE_S = 2.0, 0.5
"""Seconds to wait after a statement's time limit until the server reports the timeout."""
SILENT_S = 30.0
"""Seconds after which an unused connection is tested."""


class Cursor(base.Cursor, ClientCursor[Any]):  # the second again: types know no other
    """A cursor that puts the result of `preamble` before its statements."""

    preamble: Callable[[], str] = staticmethod(lambda: "")

    def _convert_query(self, query: Any, params: Any = None) -> Any:
        """Return a statement after its preamble, which is not parsed, as it differs each time."""
        message = super()._convert_query(query, params)
        message.query = self.preamble().encode() + message.query
        return message

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Run one message; if it has several statements, the last one's result is kept."""
        super().execute(query, params, **options)
        while self.nextset():
            pass
        return self

    def _refuse(self, *args: Any, **options: Any) -> NoReturn:
        raise NotSupportedError("This would run for nobody, under the role of the login.")

    executemany = copy = stream = _refuse


class ApartCursor(Cursor):
    """A cursor for Citus: the preamble is sent as separate messages."""

    frame: Callable[[], tuple[list[str], bool]] = staticmethod(lambda: ([], False))
    """Function that returns the preamble, and whether the statement is a transaction of its own."""
    serves = False
    """Whether to use a pipeline, which takes no statement with several parts, as an owner's."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Run one message; if it has several statements, the last one's result is kept."""
        before, is_alone = self.frame()
        connection = self.connection
        while isinstance(query, str) and query.lstrip().startswith("SET LOCAL ") and ";" in query:
            setting, _, query = query.partition(";")
            before = [*before, setting]
        try:
            with connection.pipeline() if before and self.serves else nullcontext():
                for statement in before:
                    connection.execute(statement)
                super().execute(query, params, **options)
                if is_alone:
                    connection.execute("COMMIT")
        except BaseException:
            if is_alone and not connection.closed:
                connection.execute("ROLLBACK")
            raise
        return self


class DatabaseOperations(operations.DatabaseOperations):
    """Django's operations, except that a captured query is shown without its parameters."""

    compiler_module = "memoryproject.tenancy.postgresql.compiler"

    def last_executed_query(self, cursor: Any, sql: Any, params: Any) -> str:
        return str(self.compose_sql(sql, params))


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection to the database. It serves if its settings have a `ROLE`.

    Then each statement runs under that role, with the settings in `LOCAL`. The owner's connection
    migrates: it sets a tenant only within transactions, since VACUUM and CREATE INDEX CONCURRENTLY
    must be sent alone.
    """

    ops_class = DatabaseOperations
    SchemaEditorClass = SchemaEditor
    wait_s: float | None = None
    """Time limit of a statement, whatever a request has left; None: no limit."""
    is_distributed = False
    """Whether the database uses Citus."""
    _alive_at = 0.0
    _local: dict[str, str] = {}
    """Settings of this transaction so far; only for Citus."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.execute_wrappers.append(call_it_away)

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection that waits for a statement only a little longer than its time limit.

        A frozen server keeps its connections open without answering.
        """
        connection = super().get_new_connection(conn_params)
        wait = connection.wait

        def wait_for_server(gen: Any, **options: Any) -> Any:
            limit_ms = self._find_limit_ms()
            late_s = LATE_S if self.wait_s is None else REPLICA_LATE_S
            timeout = None if limit_ms is None else limit_ms / 1000 + late_s
            return wait(gen, timeout=timeout, **options)

        connection.wait = wait_for_server
        return connection

    def _find_limit_ms(self) -> int | None:
        """Return the time limit of a statement: what a request has left, or `wait_s` if less."""
        wait_ms = None if self.wait_s is None else int(1000 * self.wait_s)
        return min((ms for ms in (deadlines.left_ms(), wait_ms) if ms is not None), default=None)

    def _commit(self) -> None:
        """Commit, without a time limit on waiting for a synchronous replica.

        A commit interrupted in that wait counts as done, but may be on one server only.
        """
        opened = self.connection.info.transaction_status == TransactionStatus.INTRANS
        if not opened or deadlines.left_ms() is None:
            super()._commit()  # type: ignore[misc]
            return
        with deadlines.watching(None), self.wrap_database_errors:
            self.connection.execute("SELECT set_config('statement_timeout', '0', true); COMMIT")

    def is_usable(self) -> bool:
        """Return whether the server answers, by the connection's socket if possible.

        A server that stops closes its connections, so a frequent caller need not wait for a test.
        """
        now = time.monotonic()
        is_known = not self.errors_occurred and now - self._alive_at < SILENT_S
        is_known = is_known and self.connection and is_quiet(self.connection.fileno())
        if is_known or super().is_usable():
            self._alive_at = now
            return True
        return False

    def get_connection_params(self) -> dict[str, Any]:
        # psycopg would send BEGIN separately; here it is sent with the first statement.
        own = {"cursor_factory": Cursor, "autocommit": True}
        return {**super().get_connection_params(), **own}

    def _set_autocommit(self, autocommit: bool) -> None:
        """Do nothing: the preamble does it, and Django has noted the mode."""

    def init_connection_state(self) -> None:
        """Check the connection before anything is served from it.

        Raises:
            UnsafeDatabase: it would not keep tenants apart, or knows another key pepper.
        """
        super().init_connection_state()
        self._alive_at = time.monotonic()
        look = self.connection.execute("SELECT FROM pg_extension WHERE extname = 'citus'")
        self.is_distributed = look.fetchone() is not None
        if self.is_distributed:
            self.connection.cursor_factory = ApartCursor
        if "ROLE" not in self.settings_dict:
            return
        try:
            check_walls(self)
            check_pepper(self)
        except BaseException:
            self.connection.close()
            self.connection = None  # the next one is looked at, too
            raise

    def create_cursor(self, name: str | None = None) -> Any:
        if name:
            raise NotSupportedError("A cursor on the server would hang on the session.")
        cursor = super().create_cursor()
        if self.is_distributed:
            cursor.frame, cursor.serves = self._frame, "ROLE" in self.settings_dict
        else:
            cursor.preamble = self._preamble
        return cursor

    def _preamble(self) -> str:
        local = self._list_local()
        begin = "BEGIN; " if local and not self.autocommit and self._is_idle() else ""
        return begin + "".join(f"{set_local(name, local[name])}; " for name in local)

    def _frame(self) -> tuple[list[str], bool]:
        """Return the preamble for Citus, and whether the statement is a transaction of its own."""
        is_idle, local = self._is_idle(), self._list_local()
        if is_idle:
            self._local = {}
        if not local:
            return [], False
        passed = {"memory.tenant", *self.settings_dict.get("LOCAL", {})}
        new = {name: local[name] for name in local if local[name] != self._local.get(name)}
        self._local = {**self._local, **new}
        kept = {name: new[name] for name in new if name not in passed}
        if is_idle:
            kept["citus.propagate_set_commands"] = "local"
            if not self.autocommit:  # a reference table is written after no parallel reading
                kept["citus.multi_shard_modify_mode"] = "sequential"
        parts = [f"set_config('{name}', '{value}', true)" for name, value in kept.items()]
        before = ["BEGIN"] if is_idle else []
        before += [f"SELECT {', '.join(parts)}"] if parts else []
        before += [set_local(name, new[name]) for name in new if name in passed]
        return before, is_idle and self.autocommit

    def _savepoint_rollback(self, sid: str) -> None:
        super()._savepoint_rollback(sid)  # type: ignore[misc]
        self._local = {}

    def _savepoint_commit(self, sid: str) -> None:
        super()._savepoint_commit(sid)  # type: ignore[misc]
        self._local = {}  # Citus tells nodes that come in later what was set before it alone

    def _is_idle(self) -> bool:
        status: TransactionStatus = self.connection.info.transaction_status
        return status == TransactionStatus.IDLE

    def _list_local(self) -> dict[str, str]:
        """Return the settings for a statement, by name; empty: none is sent."""
        role = self.settings_dict.get("ROLE")
        if self.connection.info.transaction_status == TransactionStatus.INERROR:
            return {}  # nothing but ROLLBACK is heard
        if not role and self.autocommit:
            return {}
        local = {"role": role} if role else {}
        local |= {"memory.tenant": walls.get_seen(), **self.settings_dict.get("LOCAL", {})}
        if (limit_ms := self._find_limit_ms()) is not None:
            local["statement_timeout"] = str(limit_ms)
        return local


def set_local(name: str, value: str) -> str:
    """Return the statement; names and values come from settings and `walls`, without quotes."""
    return f"SET LOCAL {name} = '{value}'"


def is_quiet(socket: int) -> bool:
    """Return whether a socket is open and has nothing to read."""
    waiting = select.poll()
    waiting.register(socket, select.POLLIN)
    return not waiting.poll(0)
