"""Has facts drawn once more from the episodes of other conversations that had supported them.

A fact that its own conversation no longer says goes: it was worded there, and from what may be
wrong or erased by now. What other conversations said of it is learnt anew, in their own words.
"""

import uuid
from collections.abc import Iterable

from episodic import services as episodic
from episodic.models import Conversation, Episode
from episodic.withholding import draw_anew
from memoryproject.tenancy.models import Tenant
from semantic.models import Evidence


def find_elsewhere(tenant: Tenant, fact_ids: Iterable[uuid.UUID]) -> list[uuid.UUID]:
    """Return the episodes of other conversations than the facts' own that support them, in order.

    Uses index: the one on the evidence's fact.
    """
    rows = Evidence.objects.of(tenant).filter(
        fact__in=list(fact_ids), withdrawn_by=None, conversation__isnull=False
    )
    return sorted(set(rows.values_list("episode_id", flat=True)))


def redraw(
    tenant: Tenant, episode_ids: Iterable[uuid.UUID], *, but: Conversation | None = None
) -> int:
    """Have jobs draw facts anew from episodes, `but` those of one conversation; return how many.

    The caller holds the lock of the user whose they are, and not that of their conversations.
    """
    rows = Episode.objects.of(tenant).filter(id__in=list(episode_ids)).exclude(conversation=but)
    ids = list(rows.values_list("id", flat=True))
    count = draw_anew(tenant=tenant, episode_ids=ids)
    if count:
        homes = Episode.objects.of(tenant).filter(id__in=ids).values("conversation")
        for conversation in Conversation.objects.of(tenant).filter(id__in=homes).order_by("id"):
            episodic.request_consolidation(conversation, force=True)
    return count
