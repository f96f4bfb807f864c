"""Erases changesets, which are append-only but for the end of their tenant."""

from __future__ import annotations

import uuid

from django.db import connection

from memoryproject.tenancy.models import Tenant


def erase_history(*, tenant: Tenant, conversation_id: uuid.UUID | None) -> int:
    """Delete changesets with their steps, and reveals; return how many changesets.

    Those of a conversation, or those that belong to none. The database refuses unless an
    erasure of the whole tenant is on record and runs.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT public.memory_erase_history(%s, %s)", [tenant.id, conversation_id])
        (erased,) = cursor.fetchone()
    return int(erased)
