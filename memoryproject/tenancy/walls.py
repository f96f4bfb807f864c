"""Whose rows this thread may see: what row level security asks of the database.

Each table of a tenant's rows has a policy that compares them with a variable of the
database's session, `memory.tenant`: the id of a tenant, `*` for all of them, or nothing,
and then there are no rows. Here stands what the variable is to be, for the thread at work;
each connection is told before its next statement, if it was last told something else.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from psycopg.pq import TransactionStatus

NOBODY = ""
EVERYBODY = "*"

_seen: ContextVar[str] = ContextVar("memory_tenant", default=NOBODY)
TELL = "SELECT set_config('memory.tenant', %s, false)"
CONTROLS = ("SAVEPOINT", "RELEASE", "ROLLBACK")
"""Statements that read no rows, some of which must work in a transaction that has failed."""


@contextmanager
def acting_for(tenant_id: uuid.UUID) -> Iterator[None]:
    """See the rows of one tenant, and write no others, until the block ends."""
    with _seeing(str(tenant_id)):
        yield


@contextmanager
def across_tenants() -> Iterator[None]:
    """See the rows of all tenants until the block ends.

    For the admin, the reconciler, commands, and to find the tenant behind a key.
    """
    with _seeing(EVERYBODY):
        yield


@contextmanager
def acting_for_nobody() -> Iterator[None]:
    """See no rows of tenants until the block ends, or until `act_for` says whose."""
    with _seeing(NOBODY):
        yield


@contextmanager
def _seeing(whose: str) -> Iterator[None]:
    token: Token[str] = _seen.set(whose)
    try:
        yield
    finally:
        _seen.reset(token)


def act_for(tenant_id: uuid.UUID) -> None:
    """See the rows of one tenant from now on; ends with the block that stands around it."""
    _seen.set(str(tenant_id))


class Teller:
    """Tells one connection whose rows are to be seen, where that has changed.

    What is told within a transaction is undone with it, or with a savepoint in it. So it is
    trusted only while a callback stands among those that Django runs at commit: Django drops
    a callback exactly when what was done along with it is rolled back.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Trust nothing: the connection is new, or somebody else's until now."""
        self._told: str | None = None
        self._at_commit: Callable[[], None] | None = None
        """What stands among the callbacks while `_told` could still be rolled back."""

    def __call__(
        self,
        execute: Callable[..., Any],
        sql: Any,
        params: Any,
        many: bool,
        context: dict[str, Any],
    ) -> Any:
        """Run a statement, after telling the connection what it does not know yet."""
        connection = context["connection"]
        whose = _seen.get()
        if not self._knows(connection, whose) and _may_be_told(connection, sql):
            self._tell(connection, whose)
        return execute(sql, params, many, context)

    def _knows(self, connection: BaseDatabaseWrapper, whose: str) -> bool:
        if self._told != whose:
            return False
        if self._at_commit is None:
            return True
        return any(entry[1] is self._at_commit for entry in reversed(connection.run_on_commit))

    def _tell(self, connection: BaseDatabaseWrapper, whose: str) -> None:
        self._told = None
        with connection.wrap_database_errors:
            connection.connection.execute(TELL, [whose])

        def stands() -> None:
            if self._at_commit is stands:
                self._at_commit = None

        self._at_commit = stands if connection.in_atomic_block else None
        if connection.in_atomic_block:
            connection.on_commit(stands)
        # Without Django's transactions nobody knows what is rolled back, and when.
        lasts = connection.in_atomic_block or connection.get_autocommit()
        self._told = whose if lasts else None


def _may_be_told(connection: BaseDatabaseWrapper, sql: Any) -> bool:
    if isinstance(sql, str) and sql.startswith(CONTROLS):
        return False
    status = connection.connection.info.transaction_status
    return not connection.needs_rollback and status != TransactionStatus.INERROR


def watch(connection: BaseDatabaseWrapper, **signal: Any) -> None:
    """Give a connection that has just opened its teller, or make the one it has forget."""
    if connection.alias != DEFAULT_DB_ALIAS:
        return
    tellers = [one for one in connection.execute_wrappers if isinstance(one, Teller)]
    for teller in tellers:
        teller.forget()
    if not tellers:
        # First, and so around all others: theirs come and go at the end of the list.
        connection.execute_wrappers.insert(0, Teller())


def watch_connections() -> None:
    """See to it that every connection that serves is told; called once, when Django starts."""
    connection_created.connect(watch, dispatch_uid="memoryproject.tenancy.walls")
