"""Queues the mirror job for memories that have changed, in the transaction that changes them."""

import uuid
from collections.abc import Iterable

from django.conf import settings

from indexing.models import SearchUnit
from jobs.enqueue import enqueue
from jobs.models import Kind
from memoryproject.tenancy.models import Tenant


def tell_mirror(
    *, tenant: Tenant, conversation_id: uuid.UUID | None, memory_ids: Iterable[uuid.UUID]
) -> None:
    """Have the pages of some memories of one conversation, or of none, written once more.

    One job takes all that waits. Nothing happens where nothing is mirrored.
    """
    changed = {str(memory_id): True for memory_id in memory_ids}
    if settings.MIRROR_DIR is not None and changed:
        scope = conversation_id or tenant.id
        enqueue(tenant=tenant, kind=Kind.MIRROR, scope=scope, input=changed)


def tell_mirror_of(*, tenant: Tenant, memory_id: uuid.UUID) -> None:
    """Do the same for a memory wherever it is at home, as long as it is in the index."""
    if settings.MIRROR_DIR is not None:
        units = SearchUnit.objects.of(tenant).filter(memory_id=memory_id)
        home = units.values_list("conversation_id", flat=True).first()
        tell_mirror(tenant=tenant, conversation_id=home, memory_ids=[memory_id])
