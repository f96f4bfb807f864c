"""Whose rows this thread may see, for row-level security.

Each table has a policy that compares its rows with the variable `memory.tenant`: the id of a
tenant, `*` for all, or empty for none. This module holds its value for the current thread; every
statement sets it (`postgresql/base.py`).

A key may be bound to some users of its tenant. Rows of others are then left out by the managers
(`managers.py`) and by the statements that search a whole tenant, not by a policy.
"""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from django.db.models import Q

from memoryproject.edge.errors import Forbidden
from memoryproject.process.scopes import holding

NOBODY = ""
EVERYBODY = "*"

_seen = ContextVar[tuple[str, tuple[str, ...] | None]]("memory_seen", default=(NOBODY, None))
"""The tenant whose rows are visible, and the only users; None: all users."""


def get_seen() -> str:
    """Return whose rows are visible now: a tenant's id, EVERYBODY or NOBODY."""
    return _seen.get()[0]


def rows_seen() -> Q:
    """Return the policies' condition on visible rows, for a statement to name the tenant too."""
    whose = get_seen()
    return Q() if whose in (NOBODY, EVERYBODY) else Q(tenant_id=whose)


def acting_for(tenant_id: uuid.UUID) -> AbstractContextManager[None]:
    """Make only one tenant's rows visible and writable until the block ends."""
    return seeing(str(tenant_id))


@contextmanager
def across_tenants() -> Iterator[None]:
    """Make the rows of all tenants visible until the block ends.

    For the admin, the reconciler, commands, and to find the tenant behind a key.
    """
    with seeing(EVERYBODY):
        yield


def seeing(whose: str) -> AbstractContextManager[None]:
    """Make the rows of a tenant's id, of EVERYBODY or of NOBODY visible until the block ends.

    Or until `act_for` names a tenant.
    """
    return holding(_seen, (whose, None))


def act_for(tenant_id: uuid.UUID, *, users: Sequence[str] = ()) -> None:
    """Make the rows of one tenant visible from now on, until the surrounding block ends.

    With `users`, only theirs.
    """
    _seen.set((str(tenant_id), tuple(users) or None))


def get_users() -> tuple[str, ...] | None:
    """Return the only users whose rows are visible now; None: all of the tenant."""
    return _seen.get()[1]


def choose_user(user_id: str) -> str:
    """Return the user of a new row: the named one, or the only permitted one.

    Raises:
        Forbidden: that user's rows are not visible, or several users are permitted and none is
            named.
    """
    users = get_users()
    if users is None or user_id in users:
        return user_id
    if user_id or len(users) > 1:
        raise Forbidden("This key is bound to users: name one of them as user_id.")
    return users[0]
