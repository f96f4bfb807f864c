"""Finds and locks the facts of all conversations of a user, which belong together.

The home of a fact is the conversation in which it was first said. Other conversations of the same
user may add evidence to it. A conversation without a user shares no facts.
"""

import uuid
from collections.abc import Iterable, Sequence

from django.db.models import Q, QuerySet

from episodic import queries as episodic_queries
from episodic.models import Conversation
from memoryproject.database.clock import execute
from memoryproject.tenancy.models import Tenant
from semantic.models import Fact

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('facts of ' || %s || ' ' || %s, 0))"


def conversations_beside(conversation: Conversation) -> QuerySet[Conversation]:
    """Return the conversations whose facts are compared with this one's: its user's, or itself.

    Uses index: episodic_conversation_by_user.
    """
    rows = Conversation.objects.of(conversation.tenant)
    if not conversation.user_id:
        return rows.filter(id=conversation.id)
    return rows.filter(~Q(user_id=""), user_id=conversation.user_id)


def list_ids_beside(conversation: Conversation) -> list[uuid.UUID]:
    """Return the ids of `conversations_beside`, in order."""
    if not conversation.user_id:
        return [conversation.id]
    return list(conversations_beside(conversation).order_by("id").values_list("id", flat=True))


def list_all_beside(tenant: Tenant, conversation_ids: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    """Return the given ids and those of every other conversation of the same users, in order."""
    rows = Conversation.objects.of(tenant)
    users = rows.filter(id__in=conversation_ids).exclude(user_id="").values("user_id")
    others = rows.filter(~Q(user_id=""), user_id__in=users).values_list("id", flat=True)
    return sorted({*conversation_ids, *others})


def facts_beside(conversation: Conversation) -> QuerySet[Fact]:
    """Return the facts that this conversation's are compared with, active or not, with its own.

    Others' words in the user's other conversations are left out.
    """
    if not conversation.user_id:
        return Fact.objects.within(conversation)
    homes = conversations_beside(conversation).values("id")
    mine = Q(user_id="") | Q(conversation=conversation)
    return Fact.objects.of(conversation.tenant).filter(mine, conversation__in=homes)


def lock_homes(tenant: Tenant, conversation_ids: Iterable[uuid.UUID]) -> list[Conversation]:
    """Lock conversations and then the facts of their users, in order of id.

    All code that changes facts locks in this order: conversations by id, then users, then facts.
    Code that holds a user's lock asks for no further conversation, so there is no deadlock. Locking
    each of the user's conversations instead would make a message wait for every run in any of them.
    """
    rows = [
        episodic_queries.lock_conversation(tenant, conversation_id)
        for conversation_id in sorted(set(conversation_ids))
    ]
    for user_id in sorted({row.user_id for row in rows} - {""}):
        lock_user(tenant, user_id)
    return rows


def lock_home(tenant: Tenant, conversation_id: uuid.UUID) -> Conversation:
    """Lock one conversation as `lock_homes` does."""
    return lock_homes(tenant, [conversation_id])[0]


def lock_user(tenant: Tenant, user_id: str) -> None:
    """Lock the facts of a user against changes by others until the transaction ends."""
    execute(LOCK, [str(tenant.id), user_id])
