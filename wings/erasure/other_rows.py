"""Deletes rows of wings about erased rows, and names in Django's log.

Runs inside the transaction of an erasure.
"""

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence

from django.contrib.admin.models import LogEntry
from django.db import IntegrityError, connection

from episodic.models import Conversation
from memoryproject.database.batches import in_batches
from memoryproject.tenancy.models import Tenant
from memoryproject.wings import Eraser, list_wings

ERASED = "(erased)"
"""Replaces a row's text in Django's log."""


def list_erasers() -> list[Eraser]:
    return [wing.erase for wing in list_wings() if wing.erase is not None]


def forget_names(ids: Sequence[uuid.UUID]) -> None:
    """Remove the texts of rows from Django's log; who did what stays."""
    for some in in_batches([str(row_id) for row_id in ids]):
        LogEntry.objects.filter(object_id__in=some).update(object_repr=ERASED)


def erase_of_conversation(conversation: Conversation) -> Counter[str]:
    return _sum(eraser.of_conversation(conversation) for eraser in list_erasers())


def erase_of_tenant(tenant: Tenant) -> Counter[str]:
    return _sum(eraser.of_tenant(tenant) for eraser in list_erasers())


def count_of_tenant(tenant: Tenant) -> Counter[str]:
    return _sum(eraser.count_of_tenant(tenant) for eraser in list_erasers())


def _sum(counts: Iterable[Counter[str]]) -> Counter[str]:
    return sum(counts, Counter())


def forget_reasons(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> None:
    """Remove from Django's log why people changed these memories; who did what stays.

    Called before the memories are deleted. The log is append-only; a database function may change
    it while an erasure of this tenant is on record and running. On Citus no other role can see rows
    changed by this transaction, so a separate connection is used, which cannot do this for a
    preview. It would wait forever for log rows written by this transaction, so call this before
    `forget_names` of the same ids.
    """
    is_apart = getattr(connection, "is_distributed", False)
    own = connection.copy() if is_apart else connection
    try:
        with own.cursor() as cursor:
            for some in in_batches(memory_ids):
                cursor.execute("SELECT public.memory_forget_acts(%s, %s)", [tenant.id, list(some)])
    except IntegrityError as error:
        if not is_apart or "being erased" not in str(error):  # no reason is left in silence
            raise
    finally:
        if is_apart:
            own.close()
