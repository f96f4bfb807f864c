"""Drafts an erasure of the row or user that a request names."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet

from episodic.models import Conversation, Message
from erasure.imports import imports_of
from erasure.models import Erasure, RetentionPolicy, Scope
from memoryproject.edge.errors import NotFound, Problem, get_row
from memoryproject.edge.fields import CANONICAL_UUID
from memoryproject.tenancy.models import Tenant
from notes import erasing as notes
from notes.models import Note
from people.models import Person

USER_ID_AT_MOST = 1_000
NAMED_BY: dict[Scope, tuple[Callable[[Tenant], QuerySet[Any]], str, str]] = {
    Scope.MESSAGE: (Message.objects.of, "message", "id"),
    Scope.NOTE: (Note.objects.of, "note", "id"),
    Scope.CONVERSATION: (Conversation.objects.of, "conversation", "external_id"),
    Scope.PERSON: (Person.objects.of, "person", "id"),
    Scope.RETENTION: (RetentionPolicy.objects.of, "policy", "id"),
    Scope.IMPORT: (imports_of, "import", "id"),
}
"""By scope, a tenant's rows, what they are, and the column that a request names one by."""


def draft_erasure(*, tenant: Tenant, scope: Scope, name: str) -> Erasure:
    """Return an unsaved erasure of what `name` means in a scope.

    A message, a note and a person go by their id, a conversation by the agent's own, a user by the
    `user_id` of the notes, an import by its changeset, a retention policy by its id, and the
    tenant by its id or name.

    Raises:
        NotFound: the tenant has nothing of that name.
        Problem: a name that is no UUID, where one is needed.
    """
    if scope is Scope.TENANT:
        if name not in {str(tenant.id), tenant.name}:
            raise NotFound("There is no such tenant.")
        return Erasure(tenant=tenant, scope=scope, target=tenant.id)
    if scope is Scope.USER:
        if not notes.notes_of_user(tenant=tenant, user_id=name, at_most=1):
            raise NotFound("There is no such user.")
        return Erasure(tenant=tenant, scope=scope, subject=name)
    if not CANONICAL_UUID.fullmatch(name):
        message = "This must be a UUID, 8-4-4-4-12 hexadecimal digits."
        raise Problem("The request has errors.", fields={"id": [message]})
    find_rows, what, column = NAMED_BY[scope]
    row = get_row(find_rows(tenant), what, **{column: uuid.UUID(name)})
    return Erasure(tenant=tenant, scope=scope, target=row.pk)
