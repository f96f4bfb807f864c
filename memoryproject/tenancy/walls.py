"""Whose rows this thread may see: what row level security asks of the database.

Each table has a policy that compares its rows with the variable `memory.tenant`: the id of a
tenant, `*` for all, or nothing, and then there are no rows. Here stands what it is to be for the
thread at work; every statement takes it along (`postgresql/base.py`).

A key may be bound to some users of its tenant. Rows of others are then left out by the managers
(`managers.py`) and by the statements that search a whole tenant; no policy knows of it.
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
"""Tenant whose rows are seen, and the only users whose; None: all users."""


def get_seen() -> str:
    """Return whose rows are seen now: a tenant's id, EVERYBODY or NOBODY."""
    return _seen.get()[0]


def rows_seen() -> Q:
    """Return what the policies hold of rows seen now, for a statement to name the tenant, too."""
    whose = get_seen()
    return Q() if whose in (NOBODY, EVERYBODY) else Q(tenant_id=whose)


def acting_for(tenant_id: uuid.UUID) -> AbstractContextManager[None]:
    """See the rows of one tenant, and write no others, until the block ends."""
    return seeing(str(tenant_id))


@contextmanager
def across_tenants() -> Iterator[None]:
    """See the rows of all tenants until the block ends.

    For the admin, the reconciler, commands, and to find the tenant behind a key.
    """
    with seeing(EVERYBODY):
        yield


def seeing(whose: str) -> AbstractContextManager[None]:
    """See the rows of a tenant's id, of EVERYBODY or of NOBODY until the block ends.

    Or until `act_for` says whose.
    """
    return holding(_seen, (whose, None))


def act_for(tenant_id: uuid.UUID, *, users: Sequence[str] = ()) -> None:
    """See the rows of one tenant from now on; ends with the block that stands around it.

    With `users` only what is theirs.
    """
    _seen.set((str(tenant_id), tuple(users) or None))


def get_users() -> tuple[str, ...] | None:
    """Return the users whose rows alone are seen now; None: all of the tenant."""
    return _seen.get()[1]


def choose_user(user_id: str) -> str:
    """Return whose a new row is: the named user; where none is, the only one that may be.

    Raises:
        Forbidden: rows of that user are not seen, or it is open which of several it is.
    """
    users = get_users()
    if users is None or user_id in users:
        return user_id
    if user_id or len(users) > 1:
        raise Forbidden("This key is bound to users: name one of them as user_id.")
    return users[0]
