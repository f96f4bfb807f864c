"""Legal holds: what may not be erased, by whomever."""

import uuid

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from episodic.models import Message
from erasure.models import Erasure, Hold, Scope
from memoryproject.edge.errors import Conflict, NotFound
from memoryproject.tenancy.models import Tenant
from notes import erasing as notes
from notes.models import Note
from semantic.curation import check_reason


def holds_of(tenant: Tenant) -> QuerySet[Hold]:
    """Return the holds that are in force."""
    return Hold.objects.of(tenant).filter(lifted_at=None)


def place_hold(
    *, tenant: Tenant, conversation_id: uuid.UUID | None, actor: str, reason: str
) -> Hold:
    """Keep a conversation, or with None the whole tenant, from being erased.

    Raises:
        Problem: no reason, or one of more than 2,000 characters.
    """
    why = check_reason(reason)
    return Hold.objects.create(
        tenant=tenant, conversation_id=conversation_id, actor=actor, reason=why
    )


def lift_hold(*, tenant: Tenant, hold_id: uuid.UUID, actor: str) -> None:
    """End a hold; its row stays.

    Raises:
        NotFound: there is none of that id in force.
    """
    if not holds_of(tenant).filter(id=hold_id).update(lifted_at=Now(), lifted_by=actor[:200]):
        raise NotFound("There is no such hold.")


def check_holds(erasure: Erasure) -> None:
    """Check that nothing of what an unsaved erasure names is on hold.

    Raises:
        Conflict: something is.
    """
    held = holds_of(erasure.tenant)
    if erasure.scope == Scope.RETENTION:
        return  # a policy passes over what is on hold
    if erasure.scope not in {Scope.TENANT, Scope.IMPORT}:
        held = held.filter(Q(conversation_id=None) | Q(conversation_id__in=_homes_of(erasure)))
    if held.exists():
        raise Conflict("It is on hold, or something of it: nothing was erased.")


def _homes_of(erasure: Erasure) -> list[uuid.UUID]:
    """Return the conversations that an erasure takes something from."""
    tenant, target = erasure.tenant, erasure.target
    if erasure.scope == Scope.MESSAGE:
        messages = Message.objects.of(tenant).filter(id__in=[target])
        return list(messages.values_list("conversation_id", flat=True))
    if erasure.scope == Scope.CONVERSATION:
        return [target] if target else []
    if erasure.scope == Scope.USER:
        ids = notes.notes_of_user(tenant=tenant, user_id=erasure.subject)
    else:
        ids = [target] if target else []
    rows = Note.objects.of(tenant).filter(id__in=ids).exclude(conversation=None)
    return [home for home in rows.values_list("conversation_id", flat=True) if home]
