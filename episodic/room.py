"""Limits the backlog: how many messages may wait for their episodes.

A worker that stands still must not let the backlog grow without end: an agent that is
told so can slow down. What is taken is never dropped.
"""

from __future__ import annotations

import time
import uuid

from django.conf import settings
from django.db.models import Sum

from episodic.models import Conversation
from memoryproject.edge.errors import TooMany
from memoryproject.tenancy.models import Tenant

RETRY_AFTER_S = 30
BELIEVED_FOR_S = 5.0
"""A tenant's sum takes a look at each of its conversations."""
_sums: dict[uuid.UUID, tuple[int, float]] = {}
"""By tenant, with the end of its time on the monotonic clock."""


def check_room(conversation: Conversation, *, count: int) -> None:
    """Raise TooMany where `count` more messages would be too many to wait."""
    if conversation.pending_count + count > settings.MAX_PENDING:
        raise TooMany(
            f"{conversation.pending_count} messages of this conversation wait for their episodes;"
            f" at most {settings.MAX_PENDING} may.",
            retry_after_s=RETRY_AFTER_S,
        )
    pending = _count_waiting(conversation.tenant)
    if pending + count > settings.MAX_PENDING_TENANT:
        raise TooMany(
            f"{pending} of the tenant's messages wait for their episodes; at most"
            f" {settings.MAX_PENDING_TENANT} may.",
            retry_after_s=RETRY_AFTER_S,
        )


def _count_waiting(tenant: Tenant) -> int:
    """Return the sum, a few seconds old at most."""
    pending, until = _sums.get(tenant.id, (0, 0.0))
    if until < time.monotonic():
        rows = Conversation.objects.of(tenant).filter(pending_count__gt=0)
        pending = rows.aggregate(total=Sum("pending_count"))["total"] or 0
        _sums[tenant.id] = (pending, time.monotonic() + BELIEVED_FOR_S)
    return pending


def forget() -> None:
    """Count anew at the next look."""
    _sums.clear()
