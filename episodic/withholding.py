"""Quarantines the messages of a source: they are kept, but not learned from or served.

Everything here runs inside one transaction, under the conversation's lock. An episode with a
quarantined message is taken apart: its other messages return to the window, so that episodes and
facts are made again without the quarantined ones. Code that removes messages from a conversation
calls `recount`.
"""

import uuid
from collections.abc import Collection, Sequence

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Coalesce

from episodic import queries
from episodic.models import Conversation, Episode, Message, Withholding
from indexing import services as index
from jobs.enqueue import enqueue
from jobs.models import Kind
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant

ERASED = "erased"
"""Replaces a reason that may quote erased text; the source may be half forgotten."""


def check_source(source: Withholding) -> None:
    """Raise Problem if only a time is given: that would mean everything of a tenant."""
    named = (source.posted_by_id, source.conversation_id, source.speaker, source.role)
    if not any(named) and not source.message_ids:
        raise Problem("Name a source: a key, a conversation, a speaker or a role.")


def messages_from(source: Withholding) -> QuerySet[Message]:
    """Return a source's messages that are not quarantined yet, up to the row's creation."""
    return Message.objects.of(source.tenant).filter(_is_from(source), withheld_by=None)


def _is_from(source: Withholding) -> Q:
    conditions = {
        "received_at__gte": source.since,
        "received_at__lte": source.created_at,
        "posted_by": source.posted_by_id,
        "conversation": source.conversation_id,
        "name": source.speaker,
        "role": source.role,
        "id__in": source.message_ids,
    }
    return Q(**{name: value for name, value in conditions.items() if value})


def messages_left(withholding: Withholding) -> QuerySet[Message]:
    """Return the messages still to be quarantined or, once it is lifted, still to be returned."""
    mine = Message.objects.of(withholding.tenant)
    if withholding.done_at is not None:
        return mine.none()
    if withholding.lifted_at is not None:
        return mine.filter(withheld_by=withholding)
    return messages_from(withholding)


def conversations_left(withholding: Withholding, *, at_most: int) -> list[uuid.UUID]:
    """Return the first conversations with messages left, in order of id."""
    return conversations_with(messages_left(withholding), at_most=at_most)


def conversations_with(messages: QuerySet[Message], *, at_most: int) -> list[uuid.UUID]:
    """Return the first conversations that hold any of the messages, in order of id."""
    rows = messages.values_list("conversation_id", flat=True)
    return list(rows.order_by("conversation_id").distinct()[:at_most])


def count(messages: QuerySet[Message]) -> dict[str, int]:
    """Return how many `messages` are in how many `conversations`."""
    return messages.order_by().aggregate(
        conversations=Count("conversation_id", distinct=True), messages=Count("id")
    )


def find_messages(
    conversation: Conversation, source: Withholding
) -> tuple[list[uuid.UUID], list[Episode]]:
    """Return the ids of a source's messages in a conversation, and the episodes they are in."""
    rows = messages_from(source).filter(conversation=conversation)
    pairs = list(rows.order_by("seq").values_list("id", "episode_id"))
    episode_ids = {episode_id for _, episode_id in pairs if episode_id is not None}
    episodes = Episode.objects.of(conversation.tenant).filter(id__in=episode_ids)
    return [message_id for message_id, _ in pairs], list(episodes.order_by("first_seq"))


def withhold(
    conversation: Conversation,
    message_ids: Sequence[uuid.UUID],
    episode_ids: Collection[uuid.UUID],
    *,
    withholding: Withholding,
) -> int:
    """Take messages out of window and episodes; return how many others go back to the window."""
    tenant = conversation.tenant
    mine = Message.objects.within(conversation)
    mine.filter(id__in=message_ids).update(
        withheld_by=withholding, episode=None, quarantined_by=None
    )
    returned = mine.filter(episode__in=episode_ids).update(episode=None)
    # No facts may be extracted from it, so it counts as done.
    Episode.objects.of(tenant).filter(id__in=episode_ids).update(
        withheld_by=withholding,
        consolidated_at=Coalesce(F("consolidated_at"), queries.database_now()),
        consolidation_failed_at=None,
    )
    for episode_id in episode_ids:
        index.remove_entries(tenant=tenant, memory_id=episode_id)
    return returned


def lift(conversation: Conversation, *, withholding: Withholding) -> None:
    """Return quarantined messages to the window, and have the conversation processed again.

    Messages that another quarantine covers go over to that one.
    """
    mine = Message.objects.within(conversation).filter(withheld_by=withholding)
    standing = Withholding.objects.of(conversation.tenant).filter(lifted_at=None)
    others = standing.exclude(id=withholding.id).exclude(reason=ERASED)
    for other in others.order_by("id"):
        mine.filter(_is_from(other)).update(withheld_by=other)
    mine.update(withheld_by=None)
    settle(conversation)


def settle(conversation: Conversation) -> None:
    """Save the conversation's changed columns, abort running jobs, and have it processed again."""
    recount(conversation)
    enqueue(
        tenant=conversation.tenant,
        kind=Kind.FLUSH,
        scope=conversation.id,
        lane=conversation.lane,
    )


COUNTED = ["previous_summary", "pending_count", "withheld_count", "version"]


def draw_anew(*, tenant: Tenant, episode_ids: Sequence[uuid.UUID]) -> int:
    """Make episodes fresh, so that facts are extracted from them again; return how many."""
    rows = Episode.objects.of(tenant).filter(id__in=list(episode_ids), withheld_by=None)
    return rows.update(consolidated_at=None, consolidation_failed_at=None)


def recount(conversation: Conversation, *, changed: Sequence[str] = ()) -> None:
    """Save the current counts and abort running jobs; `changed` names columns to save too.

    The summary for the next segmentation is that of the last remaining episode.
    """
    last = queries.episodes_of(conversation).order_by("-last_seq").first()
    mine = Message.objects.within(conversation)
    conversation.previous_summary = last.summary if last else ""
    conversation.pending_count = mine.filter(queries.IN_WINDOW).count()
    conversation.withheld_count = mine.filter(withheld_by__isnull=False).count()
    conversation.version += 1
    conversation.save(update_fields=[*COUNTED, *changed])
