"""Erases messages, and what of a conversation is known by them.

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
"""The columns of a conversation that say whose it is, or becomes."""


def find_episode_ids(conversation: Conversation, *, seq: int | None = None) -> list[uuid.UUID]:
    """Return the ids of the conversation's episodes, in order.

    With `seq` of those that were made with that message: the one that holds it, and records
    of others that are quarantined.
    """
    rows = Episode.objects.within(conversation)
    if seq is not None:
        rows = rows.filter(first_seq__lte=seq, last_seq__gte=seq)
    return list(rows.order_by("id").values_list("id", flat=True))


def erase_message(
    conversation: Conversation, message: Message, *, episode_ids: Sequence[uuid.UUID]
) -> None:
    """Delete a message, and let the others of these episodes return to the window.

    The caller has found the episodes by `find_episode_ids`, and deletes them next.
    """
    mine = Message.objects.within(conversation)
    mine.filter(episode__in=list(episode_ids)).update(episode=None)
    _delete(conversation, mine.filter(id=message.id))


def erase_messages(conversation: Conversation) -> int:
    """Delete every message of a conversation, and whose it is; return how many there were.

    Of what was withheld in it names and reasons go; who did it stays.
    """
    conversation.window_doubled = False
    conversation.user_id = conversation.agent_id = ""
    conversation.next_user_id = None
    erased = _delete(conversation, Message.objects.within(conversation))
    Withholding.objects.within(conversation).update(speaker="", reason=ERASED)
    return erased


def _delete(conversation: Conversation, messages: QuerySet[Message]) -> int:
    """Delete messages, and what only they say of who spoke and under which keys."""
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
    """Take out of what was withheld why, and speakers of whom no message is left."""
    rows = Withholding.objects.of(tenant)
    rows.filter(id__in=withheld_by).update(reason=ERASED)
    named_rows = rows.exclude(speaker="").filter(speaker__in=names)
    speakers = set(named_rows.values_list("speaker", flat=True))
    if speakers:
        speakers_left = Message.objects.of(tenant).filter(name__in=speakers).values("name")
        # Done, too: without the speaker it would mean everybody.
        named_rows.exclude(speaker__in=speakers_left).update(
            speaker="", reason=ERASED, done_at=Coalesce(F("done_at"), database_now())
        )


def settle(conversation: Conversation) -> None:
    """Store what erasing has changed of the conversation, and abort the runs in flight."""
    recount(conversation, changed=["erased_count", "window_doubled", *OWNERS])
    services.request_segmentation_if_due(conversation)
