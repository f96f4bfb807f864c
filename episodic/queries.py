"""Queries of conversations, windows and episodes. Every one names its tenant."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from episodic.engines import Line
from episodic.models import Conversation, Episode, Message
from episodic.window import OLDEST_WAITS_AT_MOST, SILENCE_CLOSES_ANY, SMALLEST, size_limit
from jobs.models import OPEN, Job, Kind, State
from memoryproject.database.clock import execute
from memoryproject.database.token_sizes import stored_quarters
from memoryproject.edge.errors import get_row
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import Tenant
from memoryproject.text.tokens import in_use

IN_WINDOW = Q(episode=None, quarantined_by=None, withheld_by=None)
FIND = """SELECT * FROM episodic_conversation WHERE tenant_id = %s AND external_id = %s
AND coalesce(user_id = ANY(%s::text[]), TRUE)"""
LOCK = """SELECT * FROM episodic_conversation WHERE tenant_id = %s AND external_id = %s
AND coalesce(user_id = ANY(%s::text[]), TRUE) FOR UPDATE"""
"""Query of `of`, written out: composing it costs Django a millisecond of each answer."""
IS_DUE = """SELECT max(received_at) <= statement_timestamp() - %s
    OR count(*) >= %s AND min(received_at) <= statement_timestamp() - %s OR count(*) >= %s
FROM episodic_message WHERE tenant_id = %s AND conversation_id = %s
    AND episode_id IS NULL AND quarantined_by_id IS NULL AND withheld_by_id IS NULL
"""
"""Query of `conversations_with_due_windows` for one conversation, run with each message."""
WAITING = """WITH home AS (
    SELECT tenant_id, id FROM episodic_conversation
    WHERE tenant_id = %(tenant)s AND id = ANY(%(homes)s::uuid[]) AND pending_count > 0
    UNION ALL (
        SELECT tenant_id, id FROM episodic_conversation
        WHERE tenant_id = %(tenant)s AND %(homes)s::uuid[] IS NULL
            AND coalesce(user_id = ANY(%(users)s::text[]), TRUE)
            AND coalesce(agent_id = %(agent)s, TRUE)
        ORDER BY id DESC LIMIT 200
    )
)
SELECT * FROM (
    SELECT waiting.* FROM home CROSS JOIN LATERAL (
        SELECT * FROM episodic_message
        WHERE tenant_id = home.tenant_id AND conversation_id = home.id
            AND episode_id IS NULL AND quarantined_by_id IS NULL AND withheld_by_id IS NULL
            AND (user_id = '' OR coalesce(user_id = ANY(%(whose)s::text[]), TRUE))
        ORDER BY seq DESC LIMIT %(at_most)s
    ) AS waiting
    UNION
    SELECT * FROM episodic_message
    WHERE tenant_id = %(tenant)s AND user_id = ANY(%(whose)s::text[]) AND user_id <> ''
        AND episode_id IS NULL AND quarantined_by_id IS NULL AND withheld_by_id IS NULL
) AS waiting
ORDER BY id DESC LIMIT %(at_most)s"""
"""Query of `waiting_in`; ids are in order of storing messages."""
FRESH = Q(consolidated_at=None, consolidation_failed_at=None)
"""Episodes whose facts are not extracted yet; one that failed waits for a retry instead."""
WAITING_READ_AT_MOST = 5_000
"""Number of newest unprocessed messages that a search reads: they have no index."""


def database_now() -> datetime:
    """Return the time by the database's clock: the same throughout a transaction."""
    return cast(datetime, execute("SELECT now()")[0][0])


def find_conversation(
    tenant: Tenant, external_id: uuid.UUID, *, lock: bool = False
) -> Conversation | None:
    """Return the tenant's conversation of that id, locked if asked for, or None."""
    params = [tenant.id, external_id, [*users] if (users := walls.get_users()) else None]
    every = Conversation.across_tenants
    rows = every.raw(LOCK, params) if lock else every.raw(FIND, params)
    conversation = next(iter(rows), None)
    if conversation:
        conversation.tenant = tenant
    return conversation


def get_by_external_id(tenant: Tenant, external_id: uuid.UUID) -> Conversation:
    """Return the tenant's conversation of that id; raise NotFound if there is none."""
    return get_row(Conversation.objects.of(tenant), "conversation", external_id=external_id)


def get_conversation(tenant: Tenant, conversation_id: uuid.UUID) -> Conversation:
    """Return the tenant's conversation of that row id; it must exist."""
    return Conversation.objects.of(tenant).get(id=conversation_id)


def lock_conversation(tenant: Tenant, conversation_id: uuid.UUID) -> Conversation:
    """Return the conversation, locked until the transaction ends."""
    return Conversation.objects.of(tenant).select_for_update().get(id=conversation_id)


def window_messages(conversation: Conversation) -> QuerySet[Message]:
    """Return the messages in no episode yet, oldest first.

    Uses index: episodic_message_window.
    """
    return Message.objects.within(conversation).filter(IN_WINDOW).order_by("seq")


def waiting_in(
    tenant: Tenant,
    homes: Sequence[uuid.UUID] | None,
    *,
    at_most: int,
    user_ids: Sequence[str] | None = None,
    agent_id: str | None = None,
) -> list[Message]:
    """Return the newest messages in no episode yet of some conversations, newest first.

    `homes` None: among the tenant's 200 newest that the caller may see, and of `agent_id` alone.
    With `user_ids`: only what these users said, in their own conversations or in others. Uses
    indexes: episodic_message_window, episodic_message_by_user.
    """
    users = walls.get_users()
    params = {
        "tenant": tenant.id,
        "homes": None if homes is None else list(homes),
        "users": None if users is None else list(users),
        "whose": None if user_ids is None else list(user_ids),
        "agent": agent_id,
        "at_most": at_most,
    }
    messages = list(Message.across_tenants.raw(WAITING, params))
    by_id = Conversation.objects.of(tenant).in_bulk({row.conversation_id for row in messages})
    for message in messages:
        message.tenant, message.conversation = tenant, by_id[message.conversation_id]
    return messages


def messages_between(
    conversation: Conversation, *, first_seq: int, last_seq: int
) -> QuerySet[Message]:
    """Return the messages of a range, both ends included, oldest first, without quarantined ones.

    Uses index: episodic_message_seq.
    """
    mine = Message.objects.within(conversation)
    return mine.filter(withheld_by=None, seq__range=(first_seq, last_seq)).order_by("seq")


def messages_at(conversation: Conversation, seqs: Iterable[int]) -> dict[int, Message]:
    """Return the messages that have these seqs, by seq, in one query."""
    messages = Message.objects.within(conversation)
    return {message.seq: message for message in messages.filter(seq__in=list(seqs))}


def without_content(messages: QuerySet[Message]) -> Iterator[Message]:
    """Yield messages without their text; `quarters` has its size instead."""
    rows = messages.defer("content", "metadata").annotate(quarters=stored_quarters(in_use().name))
    for message in rows:
        message.content = ""  # or Django would load it, one by one
        yield message


def messages_of_episodes(
    tenant: Tenant, episode_ids: Iterable[uuid.UUID], *, with_content: bool = True
) -> dict[uuid.UUID, list[Message]]:
    """Return each episode's messages, oldest first, in one query.

    Without content they have its size instead. Uses index: episodic_message_by_episode.
    """
    by_episode: dict[Any, list[Message]] = {episode_id: [] for episode_id in episode_ids}
    rows = Message.objects.of(tenant).filter(episode__in=by_episode).order_by("episode_id", "seq")
    for message in rows if with_content else without_content(rows):
        by_episode[message.episode_id].append(message)
    return by_episode


def to_lines(messages: Iterable[Message]) -> list[Line]:
    """Return the messages as the engines see them, in the same order."""
    return [
        Line(message.seq, message.role, message.name, message.content, message.said_at)
        for message in messages
    ]


def fresh_episodes(*, conversation: Conversation, at_most: int | None = None) -> list[Episode]:
    """Return the episodes whose facts are not extracted yet, oldest first.

    Uses index: episodic_episode_fresh.
    """
    fresh = Episode.objects.within(conversation).filter(FRESH)
    return list(fresh.order_by("first_seq")[:at_most])


def earlier_all_failed(episode: Episode, *, count: int) -> bool:
    """Return whether the last `count` episodes before this one all failed and wait for a retry."""
    earlier = Episode.objects.of(episode.tenant).filter(
        conversation=episode.conversation_id, first_seq__lt=episode.first_seq
    )
    marks = earlier.order_by("-first_seq").values_list("consolidation_failed_at", flat=True)
    return sum(1 for failed_at in marks[:count] if failed_at) == count


def recent_episodes(
    *,
    tenant: Tenant,
    homes: Sequence[uuid.UUID] | None,
    agent_id: str | None = None,
    left_out: uuid.UUID | None = None,
    created_since: datetime | None,
    at_most: int,
) -> list[Episode]:
    """Return the newest episodes of conversations by creation, newest first.

    They are of `homes`, or else of the tenant or an agent; never of `left_out`.
    """
    episodes = Episode.objects.of(tenant).filter(withheld_by=None)
    if homes is not None:
        episodes = episodes.filter(conversation__in=list(homes))
    elif agent_id is not None:
        episodes = episodes.filter(conversation__agent_id=agent_id)
    if left_out is not None:
        episodes = episodes.exclude(conversation=left_out)
    if created_since is not None:
        episodes = episodes.filter(created_at__gte=created_since)
    newest = episodes.select_related("conversation").order_by("-created_at", "-id")
    return list(newest[:at_most])


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a conversation is indexed; `last_seq` is that of the last message ever posted."""

    messages: int
    pending: int
    indexed_through_seq: int
    last_seq: int


def measure_progress(conversation: Conversation | None) -> Progress:
    """Return the counts of a conversation; all zero where there is none.

    Messages enter episodes oldest first, so all but the pending ones are indexed. Where
    some were erased or withheld, others may have returned to the window: then its first
    one is asked for.
    """
    if conversation is None:
        return Progress(messages=0, pending=0, indexed_through_seq=0, last_seq=0)
    last, pending = conversation.next_seq - 1, conversation.pending_count
    through = last - pending
    if pending and (conversation.erased_count or conversation.withheld_count):
        first = window_messages(conversation).first()
        through = first.seq - 1 if first else last
    kept = last - conversation.erased_count
    return Progress(messages=kept, pending=pending, indexed_through_seq=through, last_seq=last)


def conversations_with_due_windows(*, at_most: int) -> list[Conversation]:
    """Return conversations of all tenants whose window is due, by the database's clock.

    For the reconciler: it finds what fell silent and what lost its job.
    Uses index: episodic_message_waiting.
    """
    windows = Message.across_tenants.filter(IN_WINDOW).values("conversation_id")
    windows = windows.annotate(
        pending=Count("id"), oldest=Min("received_at"), newest=Max("received_at")
    ).filter(
        Q(newest__lte=Now() - SILENCE_CLOSES_ANY)
        | Q(pending__gte=SMALLEST, oldest__lte=Now() - OLDEST_WAITS_AT_MOST)
        | Q(pending__gte=size_limit(doubled=False))
    )
    rows = windows.order_by("oldest", "conversation_id")[:at_most]
    due = Conversation.across_tenants.select_related("tenant").filter(
        id__in=[row["conversation_id"] for row in rows]
    )
    # A doubled window below its larger size is due by time alone.
    return [row for row in due.order_by("id") if not row.window_doubled or is_window_due(row)]


def conversations_fallen_silent(*, silence: timedelta, at_most: int) -> list[Conversation]:
    """Return all tenants' users' conversations with no new message for this long.

    For the reconciler. Left out: conversations with a job that flushes them, and for a day those
    whose job died, since a person should look first. Uses index: episodic_message_waiting.
    """
    windows = Message.across_tenants.filter(IN_WINDOW).values("conversation_id")
    silent = windows.annotate(oldest=Min("received_at"), newest=Max("received_at")).filter(
        newest__lte=Now() - silence
    )
    flushes = Job.across_tenants.filter(kind=Kind.FLUSH, scope=OuterRef("conversation_id"))
    is_dead = Q(state=State.DEAD, created_at__gte=Now() - SILENCE_CLOSES_ANY)
    handled = flushes.filter(OPEN | is_dead)
    of_users = silent.exclude(conversation__user_id="").filter(~Exists(handled))
    rows = of_users.order_by("oldest", "conversation_id")[:at_most]
    ids = [row["conversation_id"] for row in rows]
    due = Conversation.across_tenants.select_related("tenant").filter(id__in=ids)
    return list(due.order_by("id"))


def is_window_due(conversation: Conversation) -> bool:
    """Return whether the window is due, by its size or by the database's clock."""
    full = size_limit(doubled=conversation.window_doubled)
    limits = [SILENCE_CLOSES_ANY, SMALLEST, OLDEST_WAITS_AT_MOST, full]
    return bool(execute(IS_DUE, [*limits, conversation.tenant_id, conversation.id])[0][0])


def conversations_with_stale_episodes(*, created_before: datetime, at_most: int) -> list[uuid.UUID]:
    """Return ids of conversations that have waited too long for their facts.

    For the reconciler: leftovers below the threshold, and episodes whose job was lost.
    """
    stale = (
        Episode.across_tenants.filter(FRESH, created_at__lt=created_before)
        .values("conversation_id")
        .annotate(oldest=Min("created_at"))
        .order_by("oldest", "conversation_id")[:at_most]
    )
    return [row["conversation_id"] for row in stale]


def episodes_known_at(
    tenant: Tenant, homes: Sequence[uuid.UUID], known_at: datetime
) -> list[uuid.UUID]:
    """Return the episodes known at a moment, without those quarantined since."""
    mine = Episode.objects.of(tenant).filter(conversation__in=list(homes), withheld_by=None)
    rows = mine.filter(created_at__lte=known_at)
    return list(rows.order_by("id").values_list("id", flat=True))


def count_set_aside(conversation: Conversation) -> int:
    """Return how many messages and episodes were set aside and wait for a retry."""
    messages = Message.objects.within(conversation).filter(quarantined_by__isnull=False)
    failed = Episode.objects.within(conversation).filter(consolidation_failed_at__isnull=False)
    return messages.count() + failed.count()


def episodes_of(conversation: Conversation) -> QuerySet[Episode]:
    """Return the episodes of a conversation, without quarantined ones."""
    return Episode.objects.within(conversation).filter(withheld_by=None)


def episodes_with_state(*, tenant: Tenant, episode_ids: Iterable[uuid.UUID]) -> QuerySet[Episode]:
    """Return the episodes of those ids, in order of id; none is withheld."""
    rows = Episode.objects.of(tenant).filter(id__in=list(episode_ids), withheld_by=None)
    return rows.order_by(F("id"))


def waiting_with_words(
    words: Sequence[str], *, tenant_id: uuid.UUID | None, conversation_id: uuid.UUID | None
) -> QuerySet[Message, uuid.UUID]:
    """Return the ids of the newest messages of the window that hold all the words as typed.

    None as an id: all tenants or conversations.
    Uses index: episodic_message_waiting.
    """
    newest = Message.across_tenants.filter(IN_WINDOW)
    if tenant_id is not None:
        newest = newest.filter(tenant=tenant_id)
    if conversation_id is not None:
        newest = newest.filter(conversation=conversation_id)
    ids = newest.order_by("-received_at").values("id")[:WAITING_READ_AT_MOST]
    holding = Message.across_tenants.filter(id__in=ids)
    for word in words:
        holding = holding.filter(content__icontains=word)
    return holding.values_list("id", flat=True)


def messages_in_places(places: Sequence[tuple[uuid.UUID, int]]) -> QuerySet[Message]:
    """Return the messages at the given places (conversation and seq), unordered.

    Uses index: episodic_message_seq.
    """
    return Message.across_tenants.extra(
        where=[
            "(episodic_message.tenant_id, episodic_message.conversation_id, episodic_message.seq)"
            " IN (SELECT home.tenant_id, home.id, place.seq"
            " FROM unnest(%s::uuid[], %s::bigint[]) AS place (conversation_id, seq)"
            " JOIN episodic_conversation AS home ON home.id = place.conversation_id)"
        ],
        params=[[place[0] for place in places], [place[1] for place in places]],
    )
