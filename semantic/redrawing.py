"""Extracts facts again from other conversations' episodes that had supported a fact.

A fact is retired when its own conversation no longer states it, since its wording came from there.
Facts are extracted again from the other conversations, in their own words.
"""

import uuid
from collections.abc import Iterable

from episodic import services as episodic
from episodic.models import Conversation, Episode
from episodic.withholding import draw_anew
from memoryproject.tenancy.models import Tenant
from semantic.models import Evidence


def find_elsewhere(tenant: Tenant, fact_ids: Iterable[uuid.UUID]) -> list[uuid.UUID]:
    """Return the supporting episodes from other conversations than the facts' own, in order.

    Uses index: the one on the evidence's fact.
    """
    rows = Evidence.objects.of(tenant).filter(
        fact__in=list(fact_ids), withdrawn_by=None, conversation__isnull=False
    )
    return sorted(set(rows.values_list("episode_id", flat=True)))


def redraw(
    tenant: Tenant, episode_ids: Iterable[uuid.UUID], *, but: Conversation | None = None
) -> int:
    """Queue the extraction of facts from episodes, `but` those of one conversation; count them.

    The caller holds the lock of their user, but not those of their conversations.
    """
    rows = Episode.objects.of(tenant).filter(id__in=list(episode_ids)).exclude(conversation=but)
    ids = list(rows.values_list("id", flat=True))
    count = draw_anew(tenant=tenant, episode_ids=ids)
    if count:
        homes = Episode.objects.of(tenant).filter(id__in=ids).values("conversation")
        for conversation in Conversation.objects.of(tenant).filter(id__in=homes).order_by("id"):
            episodic.request_consolidation(conversation, force=True)
    return count
