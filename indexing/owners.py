"""Whose what can be found is: the scopes of users, and the owners of a conversation's entries.

An entry's owner is the scope of its user, or its conversation where no user was named. All
indexes of what can be found are narrowed by it first.
"""

import uuid
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from indexing.models import OWNER, ShelfSize
from memoryproject.tenancy.models import Tenant


def scope_of(tenant_id: uuid.UUID, user_id: str) -> uuid.UUID | None:
    """Return under which scope the entries of a user stand; None where nobody is named."""
    return uuid.uuid5(tenant_id, user_id) if user_id else None


def owners_of(*, tenant: Tenant, conversation_id: uuid.UUID) -> list[uuid.UUID]:
    """Return the owners of all that can be found in a conversation, itself among them."""
    return owners_of_several(tenant=tenant, conversation_ids=[conversation_id])


def owners_of_several(*, tenant: Tenant, conversation_ids: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    """Return the owners of all that can be found in conversations, themselves among them."""
    rows = ShelfSize.objects.of(tenant).filter(conversation__in=conversation_ids)
    scopes = set(rows.values_list("user_scope", flat=True))
    return [*conversation_ids, *sorted(scope for scope in scopes if scope)]


def within(rows: QuerySet[Any], *, tenant: Tenant, conversation_id: uuid.UUID) -> QuerySet[Any]:
    """Return those of some units or vectors that are found in a conversation, by their indexes."""
    owners = owners_of(tenant=tenant, conversation_id=conversation_id)
    rows = rows.alias(owner=OWNER)
    return rows.filter(owner__in=owners, conversation=conversation_id)
