"""Limits the backlog of messages that wait for their episodes.

If workers stop, the backlog must not grow without limit: an agent that is refused can slow down.
Accepted messages are never dropped.
"""

from django.conf import settings
from django.core.cache import cache
from django.db.models import Sum

from episodic.models import Conversation
from memoryproject.edge.errors import TooMany
from memoryproject.tenancy.models import Tenant

RETRY_AFTER_S = 30
BELIEVED_FOR_S = 5
"""Seconds for which a tenant's sum is cached: adding up reads each conversation."""


def check_room(conversation: Conversation, *, count: int) -> None:
    """Raise TooMany if `count` more messages would exceed the limit."""
    of_tenant = _count_waiting(conversation.tenant)
    for whose, pending, at_most in (
        ("messages of this conversation", conversation.pending_count, settings.MAX_PENDING),
        ("of the tenant's messages", of_tenant, settings.MAX_PENDING_TENANT),
    ):
        if pending + count > at_most:
            why = f"{pending} {whose} wait for their episodes; at most {at_most} may."
            raise TooMany(why, retry_after_s=RETRY_AFTER_S)


def _count_waiting(tenant: Tenant) -> int:
    """Return the sum, at most a few seconds old."""

    def add_up() -> int:
        # Not `of`: a key bound to users would only see theirs.
        rows = Conversation.across_tenants.filter(tenant=tenant, pending_count__gt=0)
        return int(rows.aggregate(total=Sum("pending_count", default=0))["total"])

    return int(cache.get_or_set(f"episodic:waiting:{tenant.id}", add_up, BELIEVED_FOR_S) or 0)
