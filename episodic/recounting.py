"""Recounts a conversation after messages left it, or episodes were taken apart.

For withholding and erasing: both run inside the caller's transaction, under the
conversation's lock.
"""

import uuid
from collections.abc import Sequence

from episodic import queries
from episodic.models import Conversation, Episode, Message
from memoryproject.tenancy.models import Tenant

COUNTED = ["previous_summary", "pending_count", "withheld_count", "version"]


def draw_anew(*, tenant: Tenant, episode_ids: Sequence[uuid.UUID]) -> int:
    """Make episodes fresh, so that facts are drawn from them once more; return how many."""
    rows = Episode.objects.of(tenant).filter(id__in=list(episode_ids), withheld_by=None)
    return rows.update(consolidated_at=None, consolidation_failed_at=None)


def recount(conversation: Conversation, *, changed: Sequence[str] = ()) -> None:
    """Store what is there now and abort the runs in flight; `changed` names columns to store too.

    What the next segmentation is told of the last episode is that of one still there.
    """
    there = Episode.objects.within(conversation).filter(withheld_by=None)
    last = there.order_by("-last_seq").first()
    mine = Message.objects.within(conversation)
    conversation.previous_summary = last.summary if last else ""
    conversation.pending_count = mine.filter(queries.IN_WINDOW).count()
    conversation.withheld_count = mine.filter(withheld_by__isnull=False).count()
    conversation.version += 1
    conversation.save(update_fields=[*COUNTED, *changed])
