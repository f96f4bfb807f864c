"""Erases messages and the episodes made from them.

Everything here runs inside the transaction of one erasure, under the conversation's lock.
"""

import uuid
from collections.abc import Sequence

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce

from episodic import services
from episodic.erased_keys import forget_keys
from episodic.models import Conversation, Episode, Message, Withholding
from episodic.queries import database_now
from episodic.withholding import ERASED, recount
from memoryproject.tenancy.models import Tenant

OWNERS = ["user_id", "agent_id", "next_user_id"]
"""Columns that name the current and the next owner of a conversation."""


def find_episode_ids(conversation: Conversation, *, seq: int | None = None) -> list[uuid.UUID]:
    """Return the ids of the conversation's episodes, in order.

    With `seq`, only those made from that message: the episode that holds it, and quarantined
    records of earlier ones.
    """
    rows = Episode.objects.within(conversation)
    if seq is not None:
        rows = rows.filter(first_seq__lte=seq, last_seq__gte=seq)
    return list(rows.order_by("id").values_list("id", flat=True))


def erase_message(
    conversation: Conversation, message: Message, *, episode_ids: Sequence[uuid.UUID]
) -> None:
    """Delete a message, and return the other messages of its episodes to the window.

    The caller has found the episodes by `find_episode_ids`, and deletes them next.
    """
    mine = Message.objects.within(conversation)
    mine.filter(episode__in=list(episode_ids)).update(episode=None)
    _delete(conversation, mine.filter(id=message.id))


def erase_messages(conversation: Conversation) -> int:
    """Delete all messages of a conversation and its owner; return how many messages there were.

    Quarantines of the conversation lose names and reasons, but not who placed them.
    """
    conversation.window_doubled = False
    conversation.user_id = conversation.agent_id = ""
    conversation.next_user_id = None
    erased = _delete(conversation, Message.objects.within(conversation))
    Withholding.objects.within(conversation).update(speaker="", reason=ERASED)
    return erased


def _delete(conversation: Conversation, messages: QuerySet[Message]) -> int:
    """Delete messages, with speaker names and idempotency keys that occur only in them."""
    mine, home = Message.objects.within(conversation), conversation.id
    forget_keys(messages, among=mine, tenant=conversation.tenant, place=home)
    names = messages.exclude(name="").values_list("name", flat=True)
    withheld = messages.exclude(withheld_by=None).values_list("withheld_by_id", flat=True)
    sources = set(names.distinct()), set(withheld.distinct())
    erased = messages.delete()[0]
    _forget_sources(conversation.tenant, *sources)
    conversation.erased_count += erased
    return erased


def _forget_sources(tenant: Tenant, names: set[str], withheld_by: set[uuid.UUID]) -> None:
    """Clear from quarantines the reasons, and the speakers who have no message left."""
    rows = Withholding.objects.of(tenant)
    rows.filter(id__in=withheld_by).update(reason=ERASED)
    named_rows = rows.exclude(speaker="").filter(speaker__in=names)
    speakers = set(named_rows.values_list("speaker", flat=True))
    if speakers:
        speakers_left = Message.objects.of(tenant).filter(name__in=speakers).values("name")
        # Also mark it as done: without the speaker it would match everybody.
        named_rows.exclude(speaker__in=speakers_left).update(
            speaker="", reason=ERASED, done_at=Coalesce(F("done_at"), database_now())
        )


def settle(conversation: Conversation) -> None:
    """Save the conversation's columns that erasing has changed, and abort its running jobs."""
    recount(conversation, changed=["erased_count", "window_doubled", *OWNERS])
    services.request_segmentation_if_due(conversation)
