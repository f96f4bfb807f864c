"""Erases memories from imports, saved filters and Django's log, inside one erasure."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence

from django.contrib.admin.models import LogEntry
from django.db import connection
from django.db.models import Q

from console.models import ExportRun, ImportBatch, ImportRun, SavedFilter
from memoryproject.database.batches import in_batches
from memoryproject.tenancy.models import Tenant

ERASED = "(erased)"
"""Stands in Django's log where a row was called by its words."""


def erase_import_rows(*, tenant: Tenant, external_id: uuid.UUID) -> int:
    """Take a conversation's facts out of imports that are not finished; return how many.

    What is on record of the import says how much it held, and changes no more.
    """
    erased, home = 0, str(external_id)
    batches = ImportBatch.objects.of(tenant).filter(rows__contains=[{"conversation": home}])
    runs = ImportRun.objects.of(tenant).filter(id__in=batches.values("run"))
    list(runs.select_for_update().order_by("id").values_list("id"))  # as who writes a batch does
    for batch in batches.select_for_update().order_by("id"):
        kept = [row for row in batch.rows if row["conversation"] != home]
        erased += len(batch.rows) - len(kept)
        batch.rows = kept
        batch.save(update_fields=["rows"])
    return erased


def erase_addresses(ids: Iterable[uuid.UUID]) -> int:
    """Delete saved searches and lists whose address names one of the ids; return how many."""
    erased = 0
    for some in in_batches([str(one) for one in ids], size=200):
        naming = Q.create([("path__contains", text) for text in some], connector=Q.OR)
        erased += SavedFilter.objects.filter(naming).delete()[0]
    return erased


def erase_names(ids: Iterable[uuid.UUID]) -> None:
    """Take the words by which rows were called out of Django's log; who did what stays."""
    for some in in_batches([str(one) for one in ids]):
        LogEntry.objects.filter(object_id__in=some).update(object_repr=ERASED)


def forget_acts(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> None:
    """Take out of Django's log why people changed these memories; who did what stays.

    Comes before the memories go. The log can only grow: a function of the database does it,
    while an erasure of this tenant is on record and runs.
    """
    with connection.cursor() as cursor:
        for some in in_batches(memory_ids):
            cursor.execute("SELECT public.memory_forget_acts(%s, %s)", [tenant.id, list(some)])


def erase_tenant(tenant: Tenant) -> int:
    """Delete a tenant's imports and exports; return how many rows of facts had waited."""
    rows = ImportBatch.objects.of(tenant).exclude(rows=[]).values_list("rows", flat=True)
    erased = sum(len(batch) for batch in rows)
    ImportBatch.objects.of(tenant).delete()
    ImportRun.objects.of(tenant).delete()
    ExportRun.objects.of(tenant).delete()
    return erased
