"""Owners of search entries: the scopes of users, and conversations.

An entry's owner is the scope of its user, or its conversation if no user was named. All search
indexes start with it.
"""

import uuid
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from indexing.models import OWNER, ShelfSize
from memoryproject.tenancy.models import Tenant


def scope_of(tenant_id: uuid.UUID, user_id: str) -> uuid.UUID | None:
    """Return the scope of a user's entries; None without a user."""
    return uuid.uuid5(tenant_id, user_id) if user_id else None


def owners_of(*, tenant: Tenant, conversation_id: uuid.UUID) -> list[uuid.UUID]:
    """Return the owners of all search entries of a conversation, itself included."""
    return owners_of_several(tenant=tenant, conversation_ids=[conversation_id])


def owners_of_several(*, tenant: Tenant, conversation_ids: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    """Return the owners of all search entries of conversations, themselves included."""
    rows = ShelfSize.objects.of(tenant).filter(conversation__in=conversation_ids)
    scopes = set(rows.values_list("user_scope", flat=True))
    return [*conversation_ids, *sorted(scope for scope in scopes if scope)]


def within(rows: QuerySet[Any], *, tenant: Tenant, conversation_id: uuid.UUID) -> QuerySet[Any]:
    """Return the units or vectors that are found in a conversation, by their indexes."""
    owners = owners_of(tenant=tenant, conversation_id=conversation_id)
    rows = rows.alias(owner=OWNER)
    return rows.filter(owner__in=owners, conversation=conversation_id)
