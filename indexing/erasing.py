"""Erases memories from the index, inside the transaction of one erasure."""

import uuid
from collections import Counter
from collections.abc import Sequence

from indexing.models import Memory, SearchUnit, SearchVector, ShelfSize, VectorIndex, WordCount
from indexing.owners import owners_of
from memoryproject.database.batches import delete_rows, in_batches, lock_rows
from memoryproject.tenancy.models import Tenant


def lock_memories(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> None:
    """Lock memories against new rows that refer to them until the transaction ends.

    Code that adds a link, a section of a context or an entry holds a lock on the memory's row; we
    wait for it. So after this call no row can be missed.
    """
    lock_rows(Memory.objects.of(tenant), memory_ids)


def erase_entries(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> Counter[str]:
    """Delete the search entries of memories; return how many units and vectors there were."""
    counts: Counter[str] = Counter()
    for ids in in_batches(memory_ids):
        rows = SearchUnit.objects.of(tenant).filter(memory__in=ids)
        # Code that adds a vector locks the unit first, so that the vector is seen below.
        list(rows.select_for_update().order_by("id").values_list("id"))
        vectors = SearchVector.objects.of(tenant).filter(memory__in=ids)
        counts["search_vectors"] += vectors.delete()[0]
        counts["search_units"] += rows.delete()[0]
    return counts


def erase_memories(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> None:
    """Delete memories from the registry, once nothing refers to them any more."""
    delete_rows(Memory.objects.of(tenant), "id__in", memory_ids)


def forget_shelves(*, tenant: Tenant, conversation_id: uuid.UUID | None) -> None:
    """Delete the word counts and sizes of a conversation, or of entries without one.

    Called before its units are deleted, this saves the trigger from counting down each word; called
    after, it removes what the trigger left, also for its users.
    """
    forget_words(tenant=tenant, conversation_id=conversation_id)
    nobodys = {} if conversation_id else {"user_scope": None}
    for table in (ShelfSize, WordCount):
        table.objects.of(tenant).filter(conversation=conversation_id, **nobodys).delete()


def forget_words(*, tenant: Tenant, conversation_id: uuid.UUID | None) -> None:
    """Delete word counts of zero for a conversation and its users."""
    words = WordCount.objects.of(tenant).filter(units__lte=0)
    words.filter(conversation=conversation_id).delete()
    if conversation_id:
        owners = owners_of(tenant=tenant, conversation_id=conversation_id)
        words.filter(conversation=None, user_scope__in=owners).delete()
        sizes = ShelfSize.objects.of(tenant).filter(units__lte=0)
        sizes.filter(conversation=None, user_scope__in=owners).delete()


def erase_scope(*, tenant: Tenant, conversation_id: uuid.UUID | None) -> None:
    """Delete all index rows of a conversation, or of memories that belong to none.

    An approximate index in PostgreSQL stays, empty and under a meaningless name, since only the
    owner of the tables can drop it.
    """
    forget_shelves(tenant=tenant, conversation_id=conversation_id)
    VectorIndex.objects.of(tenant).filter(conversation=conversation_id).delete()
