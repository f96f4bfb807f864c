"""Deletes what wings keep of erased rows, and the names in Django's log.

All of it runs inside the transaction of an erasure.
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
"""Stands in Django's log where a row was called by its words."""


def list_erasers() -> list[Eraser]:
    return [wing.erase for wing in list_wings() if wing.erase is not None]


def forget_names(ids: Sequence[uuid.UUID]) -> None:
    """Take the words of rows out of Django's log; who did what stays."""
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
    """Take out of Django's log why people changed these memories; who did what stays.

    Comes before the memories go. The log can only grow: a function of the database does it,
    while an erasure of this tenant is on record and runs. Citus lets no other role look at
    rows that this transaction has changed: there it is done by a connection of its own, for which
    an erasure that is only previewed is not on record. It would wait for ever for rows of the log
    that this transaction has written, so this comes before `forget_names` of the same ids.
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
