"""Whose rows this thread may see: what row level security asks of the database.

Each table of a tenant's rows has a policy that compares them with the variable
`memory.tenant`: the id of a tenant, `*` for all of them, or nothing, and then there are no
rows. Here stands what the variable is to be, for the thread at work; every statement takes
it along (`postgresql/base.py`).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token

NOBODY = ""
EVERYBODY = "*"

_seen: ContextVar[str] = ContextVar("memory_tenant", default=NOBODY)


def get_seen() -> str:
    """Return whose rows are seen now: a tenant's id, EVERYBODY or NOBODY."""
    return _seen.get()


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
