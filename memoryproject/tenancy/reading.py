"""Makes sure that a key reads its own last write, and nothing erased from its tenant.

Both are stored as positions of the primary's log, only if there are replicas.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from django.conf import settings

from memoryproject.database.clock import execute
from memoryproject.edge import replicas
from memoryproject.edge.replicas import Source
from memoryproject.tenancy.models import APIKey, Tenant

Result = TypeVar("Result")

SINCE = """
(SELECT greatest(t.read_from, k.read_from) FROM public.tenancy_tenant AS t
LEFT JOIN public.tenancy_apikey AS k ON k.tenant_id = t.id AND k.id = %s WHERE t.id = %s)
"""
# A crash may lose the last moment's notes; synchronous ones would double a write's wait.
NOTE = """
SET LOCAL synchronous_commit = off;
UPDATE public.{table} SET read_from = (pg_current_wal_insert_lsn() - '0/0')::bigint
WHERE {tenant} = %s AND id = %s
"""
NOTE_KEY = NOTE.format(table="tenancy_apikey", tenant="tenant_id")
NOTE_TENANT = NOTE.format(table="tenancy_tenant", tenant="id")


@dataclass(slots=True)
class Reading:
    """The key that reads, and the server used; passed from a call to the code that reads for it."""

    tenant: Tenant
    key: APIKey | None = None
    source: Source | None = None
    """Server that has answered so far, the one with the oldest data; None: there was no choice."""

    def read(self, work: Callable[[], Result], *, fresh: bool = False) -> Result:
        """Return the result of read-only work, from a replica if one is recent enough.

        With `fresh` it sees everything committed by now.
        """
        params = [None if self.key is None else self.key.id, self.tenant.id]
        result, source = replicas.read(work, since=SINCE, params=params, fresh=fresh)
        if source and (self.source is None or source.age_s >= self.source.age_s):
            self.source = source
        return result


def note_write(key: APIKey) -> None:
    """Record that the key has written, once committed, so that it reads nothing older."""
    _note(NOTE_KEY, key.tenant_id, key.id)


def note_erasure(tenant: Tenant) -> None:
    """Record an erasure in the tenant, so that none of its keys reads the erased data."""
    _note(NOTE_TENANT, tenant.id, tenant.id)


def _note(statement: str, *params: uuid.UUID) -> None:
    if settings.READ_DATABASES:
        execute(statement, params)
