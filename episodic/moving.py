"""Moves conversations between users, together with their search entries.

A conversation that gets a user, or had one before the server knew scopes of users, is moved to that
user's search scope in steps. To change the user, the conversation is first moved out of the old
user's scope and found under its own id; then its user is changed in one transaction. So at no time
do two users see it, and at no time does its user not see it.
"""

import uuid
from collections.abc import Callable

from django.db import transaction
from django.db.models import Q

from episodic import queries
from episodic.models import Conversation
from indexing.moving import move_units
from indexing.owners import scope_of
from jobs.claims import Claim, commit, hand_back_if_late
from jobs.enqueue import enqueue
from jobs.models import OPEN, Job, Kind
from memoryproject.edge.errors import Conflict
from memoryproject.tenancy.models import Tenant

Leave = Callable[[Conversation], object]
"""Removes a locked conversation's facts from the user that it is about to leave."""
TO_MOVE = ~Q(user_id="") & Q(in_user_scope=False)


def change_user(*, tenant: Tenant, external_id: uuid.UUID, user_id: str) -> str:
    """Give a conversation to another user, or to nobody (''); return the user it had before.

    A job does it; giving the conversation back undoes it. The new user owns it as soon as none of
    its search entries are in the old user's scope.

    Raises:
        NotFound: the tenant has no such conversation.
        Conflict: it is that user's already.
    """
    with transaction.atomic():
        home = queries.get_by_external_id(tenant, external_id)
        conversation = queries.lock_conversation(tenant, home.id)
        owner = conversation.user_id
        if conversation.next_user_id is None and owner == user_id:
            raise Conflict("This conversation has that user_id already.")
        conversation.next_user_id = None if owner == user_id else user_id
        conversation.in_user_scope = False
        conversation.save(update_fields=["next_user_id", "in_user_scope"])
        enqueue(tenant=tenant, kind=Kind.MOVE, scope=conversation.id)
    return owner


def move_conversation(claim: Claim, *, leave: Leave) -> None:
    """Move a conversation's search entries in batches; after a while give the job back.

    Raises:
        LeaseLost: nothing was written by this batch.
    """
    while not _make_step(claim, leave):
        if hand_back_if_late(claim):
            return


def _make_step(claim: Claim, leave: Leave) -> bool:
    """Move one batch, or finish the move after the last one; return whether the job is done."""
    tenant = claim.tenant
    is_last = queries.get_conversation(tenant, claim.scope).in_user_scope
    with commit(claim, finish=is_last):
        if is_last:
            return True
        conversation = queries.lock_conversation(tenant, claim.scope)
        scope = scope_of(tenant.id, conversation.user_id)
        leaves = conversation.next_user_id is not None
        moved = 0
        if scope is not None:
            origin, target = (scope, None) if leaves else (None, scope)
            moved = move_units(
                tenant=tenant, conversation_id=conversation.id, origin=origin, target=target
            )
        if not moved:
            _settle(conversation, leave)
    return False


def _settle(conversation: Conversation, leave: Leave) -> None:
    """Give a locked conversation that has left its user to the next one, or mark it as moved."""
    if conversation.next_user_id is None:
        conversation.in_user_scope = True
    else:
        if conversation.user_id:
            leave(conversation)
        conversation.user_id, conversation.next_user_id = conversation.next_user_id, None
        conversation.in_user_scope = not conversation.user_id
    conversation.save(update_fields=["user_id", "next_user_id", "in_user_scope"])


def queue_moves(*, at_most: int) -> None:
    """Queue moves for conversations that need one and have no job for it.

    For the reconciler: conversations found by an upgrade, with a new user, or whose job was lost.
    """
    rows = Conversation.across_tenants.select_related("tenant").filter(TO_MOVE)
    at_work = Job.across_tenants.filter(OPEN, kind=Kind.MOVE).values("scope")
    for conversation in rows.exclude(id__in=at_work).order_by("tenant", "user_id", "id")[:at_most]:
        enqueue(tenant=conversation.tenant, kind=Kind.MOVE, scope=conversation.id)
