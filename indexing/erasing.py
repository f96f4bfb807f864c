"""Erases memories from the index, inside the transaction of one erasure."""

import uuid
from collections import Counter
from collections.abc import Sequence

from indexing.models import Memory, SearchUnit, SearchVector, ShelfSize, VectorIndex, WordCount
from indexing.owners import owners_of
from memoryproject.database.batches import delete_rows, in_batches, lock_rows
from memoryproject.tenancy.models import Tenant


def lock_memories(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> None:
    """Let nobody add anything that rests on these memories until the transaction ends.

    Whoever is adding a link, a section of a context or an entry holds a memory's row, and
    is waited for: so what is deleted after this is all there is.
    """
    lock_rows(Memory.objects.of(tenant), memory_ids)


def erase_entries(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> Counter[str]:
    """Delete what finds these memories; return how many units and vectors there were."""
    counts: Counter[str] = Counter()
    for ids in in_batches(memory_ids):
        rows = SearchUnit.objects.of(tenant).filter(memory__in=ids)
        # Whoever is adding a vector to one of them holds it: the vector must be seen below.
        list(rows.select_for_update().order_by("id").values_list("id"))
        vectors = SearchVector.objects.of(tenant).filter(memory__in=ids)
        counts["search_vectors"] += vectors.delete()[0]
        counts["search_units"] += rows.delete()[0]
    return counts


def erase_memories(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> None:
    """Delete memories from the registry, when nothing rests on them any more."""
    delete_rows(Memory.objects.of(tenant), "id__in", memory_ids)


def forget_shelves(*, tenant: Tenant, conversation_id: uuid.UUID | None) -> None:
    """Delete the counts of a conversation's words, or of what belongs to nothing.

    Before its units are deleted this spares counting each of their words down; after
    that it removes what the trigger has left, of its users, too.
    """
    forget_words(tenant=tenant, conversation_id=conversation_id)
    nobodys = {} if conversation_id else {"user_scope": None}
    for table in (ShelfSize, WordCount):
        table.objects.of(tenant).filter(conversation=conversation_id, **nobodys).delete()


def forget_words(*, tenant: Tenant, conversation_id: uuid.UUID | None) -> None:
    """Delete the counts of words that no unit of a conversation, or of its users, has any more."""
    words = WordCount.objects.of(tenant).filter(units__lte=0)
    words.filter(conversation=conversation_id).delete()
    if conversation_id:
        owners = owners_of(tenant=tenant, conversation_id=conversation_id)
        words.filter(conversation=None, user_scope__in=owners).delete()
        sizes = ShelfSize.objects.of(tenant).filter(units__lte=0)
        sizes.filter(conversation=None, user_scope__in=owners).delete()


def erase_scope(*, tenant: Tenant, conversation_id: uuid.UUID | None) -> None:
    """Delete all that is known of a conversation's shelves, or of those that belong to none.

    An approximate index in Postgres is empty then and stays, under a name that says nothing:
    only the owner of the tables can drop it.
    """
    forget_shelves(tenant=tenant, conversation_id=conversation_id)
    VectorIndex.objects.of(tenant).filter(conversation=conversation_id).delete()
