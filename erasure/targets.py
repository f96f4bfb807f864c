"""Drafts an erasure of the row or user that a request names."""

from __future__ import annotations

import uuid

from episodic import erasing as episodic
from episodic import queries as episodic_queries
from erasure.models import Erasure, Scope
from memoryproject.edge.errors import NotFound, Problem
from memoryproject.edge.fields import CANONICAL_UUID
from memoryproject.tenancy.models import Tenant
from notes import erasing as notes

USER_ID_AT_MOST = 1_000


def draft_erasure(*, tenant: Tenant, scope: Scope, name: str) -> Erasure:
    """Return an unsaved erasure of what `name` means in a scope.

    A message and a note go by their id, a conversation by the agent's own, a user by the
    `user_id` of the notes, and the tenant by its id or name.

    Raises:
        NotFound: the tenant has nothing of that name.
        Problem: a name that is no UUID, where one is needed.
    """
    if scope is Scope.TENANT:
        if name not in {str(tenant.id), tenant.name}:
            raise _missing("tenant")
        return Erasure(tenant=tenant, scope=scope, target=tenant.id)
    if scope is Scope.USER:
        if not notes.notes_of_user(tenant=tenant, user_id=name, at_most=1):
            raise _missing("user")
        return Erasure(tenant=tenant, scope=scope, subject=name)
    if not CANONICAL_UUID.fullmatch(name):
        message = "This must be a UUID, 8-4-4-4-12 hexadecimal digits."
        raise Problem("The request has errors.", fields={"id": [message]})
    row_id = _find_row(tenant, scope, uuid.UUID(name))
    if row_id is None:
        raise _missing(scope.value)
    return Erasure(tenant=tenant, scope=scope, target=row_id)


def _find_row(tenant: Tenant, scope: Scope, named: uuid.UUID) -> uuid.UUID | None:
    if scope is Scope.MESSAGE:
        message = episodic.find_message(tenant=tenant, message_id=named)
        return message.id if message else None
    if scope is Scope.NOTE:
        return named if notes.has_note(tenant=tenant, note_id=named) else None
    conversation = episodic_queries.find_conversation(tenant=tenant, external_id=named)
    return conversation.id if conversation else None


def _missing(what: str) -> NotFound:
    return NotFound(f"There is no such {what}.")
