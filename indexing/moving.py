"""Moves the search entries of a conversation to its user's scope, or away from it, in steps.

Until all of its entries are in the user's scope, a conversation is found under its own id. So at
any step of the move an answer misses nothing and finds nothing twice.
"""

import uuid

from django.db.models import Exists, OuterRef

from indexing.models import OWNER, MemoryKind, SearchUnit, SearchVector
from memoryproject.tenancy.models import Tenant

MOVED_AT_ONCE = 500
SHELVES = (MemoryKind.EPISODE, MemoryKind.FACT)
"""Memory kinds in users' scopes; notes have users of their own."""


def move_units(
    *,
    tenant: Tenant,
    conversation_id: uuid.UUID,
    origin: uuid.UUID | None,
    target: uuid.UUID | None,
    at_most: int = MOVED_AT_ONCE,
) -> int:
    """Move some units and their vectors from one scope to another; return how many.

    Scope None: they are found under the conversation. Copies of other conversations' facts are not
    moved; they are newer than the fact's own unit. Needs a transaction and the conversation's lock,
    which all other writers take. Uses index: indexing_unit_time_of_owner,
    indexing_vector_one_a_model.
    """
    rows = SearchUnit.objects.of(tenant).alias(owner=OWNER)
    rows = rows.filter(
        owner=origin or conversation_id,
        conversation=conversation_id,
        user_scope=origin,
        shelf__in=SHELVES,
    )
    own = SearchUnit.objects.of(tenant).filter(
        memory=OuterRef("memory"), shelf=MemoryKind.FACT, id__lt=OuterRef("id")
    )
    rows = rows.exclude(Exists(own.exclude(conversation=conversation_id)))
    ids = list(rows.order_by("id").values_list("id", flat=True)[:at_most])
    vectors = SearchVector.objects.of(tenant).filter(unit__in=ids)
    vectors.update(user_scope=target)
    SearchUnit.objects.of(tenant).filter(id__in=ids).update(user_scope=target)
    return len(ids)
