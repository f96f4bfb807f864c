"""Deletes rows of imports that name erased data, as part of an erasure."""

from collections import Counter

from episodic.models import Conversation
from memoryproject.tenancy.models import Tenant
from memoryproject.wings import Eraser
from wings.console.models import ImportBatch, ImportRun


def erase_import_rows(conversation: Conversation) -> Counter[str]:
    """Remove a conversation's facts from unfinished imports.

    The import's record keeps its original counts.
    """
    tenant, erased, home = conversation.tenant, 0, str(conversation.external_id)
    batches = ImportBatch.objects.of(tenant).filter(rows__contains=[{"conversation": home}])
    runs = ImportRun.objects.of(tenant).filter(id__in=batches.values("run"))
    list(runs.select_for_update().order_by("id").values_list("id"))  # as who writes a batch does
    for batch in batches.select_for_update().order_by("id"):
        kept = [row for row in batch.rows if row["conversation"] != home]
        erased += len(batch.rows) - len(kept)
        batch.rows = kept
        batch.save(update_fields=["rows"])
    return Counter(import_rows=erased)


def count_import_rows(tenant: Tenant) -> Counter[str]:
    """Return how many facts of a tenant's imports are not written yet."""
    batches = ImportBatch.objects.of(tenant).exclude(rows=[])
    return Counter(import_rows=sum(map(len, batches.values_list("rows", flat=True))))


def erase_import_batches(tenant: Tenant) -> Counter[str]:
    counts = count_import_rows(tenant)
    ImportBatch.objects.of(tenant).delete()
    return counts


ERASER = Eraser(
    of_conversation=erase_import_rows,
    of_tenant=erase_import_batches,
    count_of_tenant=count_import_rows,
)
