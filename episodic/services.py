"""Stores messages, and queues and notes what follows from them."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from episodic import queries, window
from episodic.erased_keys import refuse_erased_key
from episodic.forget_requests import read_request
from episodic.models import Conversation, Episode, Message, Role
from episodic.room import check_room
from jobs.claims import SnapshotMoved
from jobs.enqueue import enqueue
from jobs.models import Job, Kind
from memoryproject.database.ids import make_id
from memoryproject.edge.errors import Conflict
from memoryproject.edge.fields import count_bytes
from memoryproject.process.crash_points import Point, pass_point
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import APIKey, Tenant
from memoryproject.tenancy.quotas import check_quota
from memoryproject.text.cleaning import clean
from memoryproject.text.tokens import measure

FLASHBULB_SURPRISE = 0.85
CONSOLIDATION_THRESHOLD = 3


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A client's name for a request, and the hash of the request's body."""

    key: str
    body_sha256: str


@dataclass(frozen=True, slots=True)
class Posted:
    """The stored messages in order; `replayed` where an earlier request stored them."""

    messages: list[Message]
    replayed: bool


def add_messages(
    *,
    tenant: Tenant,
    posted_by: APIKey | None,
    external_id: uuid.UUID,
    messages: Sequence[Message],
    idempotency: IdempotencyKey | None = None,
    capped: bool = False,
    user_id: str = "",
    agent_id: str = "",
) -> Posted:
    """Store messages in order, all or nothing, and queue a segmentation if one is due.

    Each has role, content and `occurred_at`, and optionally name, metadata and its own user. One
    transaction, no model call. The conversation is made if there is none; its row is locked, so
    that `seq` is dense whoever else writes. `capped` says that no more may wait, or be stored, than
    the settings allow. `user_id` and `agent_id` name whose the conversation is; empty: nothing is
    said of it.

    Raises:
        Conflict: the idempotency key was used for another body, or the conversation is another
            user's or another agent's.
        Gone: what was posted under the key was erased.
        TooMany, OverQuota: with `capped`, there is no room; a replay needs none.
        Forbidden: a message names a user to whom the caller's key is not bound.
    """
    for named in {message.user_id for message in messages} - {""}:
        walls.choose_user(named)
    with transaction.atomic():
        conversation = lock_or_make(tenant=tenant, external_id=external_id, user_id=user_id)
        if idempotency is not None:
            if conversation.erased_count:
                refuse_erased_key(tenant=tenant, place=conversation.id, key=idempotency.key)
            earlier = find_posted(Message.objects.within(conversation), idempotency)
            if earlier:
                return Posted(messages=earlier, replayed=True)
        if capped:
            check_room(conversation, count=len(messages))
            more_bytes = sum(map(count_message_bytes, messages))
            check_quota(tenant, more_rows=len(messages), more_bytes=more_bytes)
        name_owner(conversation, user_id=user_id, agent_id=agent_id)
        _insert(conversation, messages, posted_by=posted_by, idempotency=idempotency)
        _request_forgetting(conversation, messages)
        pass_point(Point.MESSAGES_INSERTED)
        request_segmentation_if_due(conversation)
    pass_point(Point.MESSAGES_STORED)
    return Posted(messages=list(messages), replayed=False)


def count_message_bytes(message: Message) -> int:
    """Return the size that counts for the tenant's quota."""
    return len(message.content.encode()) + count_bytes(message.metadata)


def lock_or_make(*, tenant: Tenant, external_id: uuid.UUID, user_id: str = "") -> Conversation:
    """Lock a conversation by the agent's id; create it, for a user, if there is none.

    Raises:
        Conflict: it is of a user to whom the caller's key is not bound.
        Forbidden: it would be made for such a user.
    """
    locked = queries.find_conversation(tenant=tenant, external_id=external_id, lock=True)
    if locked is not None:
        return locked
    rows = Conversation.objects.of(tenant).select_for_update()
    owner = {"user_id": partial(walls.choose_user, user_id)}
    try:
        return rows.get_or_create(tenant=tenant, external_id=external_id, defaults=owner)[0]
    except IntegrityError:
        if walls.get_users() is None:
            raise
        raise Conflict("This conversation id is taken.") from None


def name_owner(conversation: Conversation, **owners: str) -> None:
    """Store user and agent of a locked conversation; empty: not given.

    Raises:
        Conflict: it is somebody else's. Whose it is once named stays so.
    """
    changed = []
    for name, owner in owners.items():
        if owner and not getattr(conversation, name):
            setattr(conversation, name, owner)
            changed.append(name)
        elif owner and getattr(conversation, name) != owner:
            raise Conflict(f"This conversation has another {name} already; that does not change.")
    if "user_id" in changed:
        conversation.in_user_scope = False  # a job moves what can be found of it already
        changed.append("in_user_scope")
    if changed:
        conversation.save(update_fields=changed)


def find_posted(rows: QuerySet[Any], idempotency: IdempotencyKey) -> list[Any]:
    """Return the rows that an earlier request under the same key stored, in its order.

    Raises:
        Conflict: that request had another body.
    """
    earlier = list(rows.filter(client_key=idempotency.key).order_by("client_index"))
    if earlier and earlier[0].body_sha256 != idempotency.body_sha256:
        raise Conflict("This Idempotency-Key was used for another request.")
    return earlier


def _insert(
    conversation: Conversation,
    messages: Sequence[Message],
    *,
    posted_by: APIKey | None,
    idempotency: IdempotencyKey | None,
) -> None:
    for index, message in enumerate(messages):
        message.id = make_id()  # under the lock: ids are in the order of `seq`, whoever else writes
        message.tenant, message.conversation = conversation.tenant, conversation
        message.seq = conversation.next_seq + index
        message.token_sizes = measure(clean(message.content))
        message.posted_by, message.client_index = posted_by, index
        if idempotency is not None:
            message.client_key, message.body_sha256 = idempotency.key, idempotency.body_sha256
        message.pending_after = conversation.pending_count + index + 1
    Message.objects.bulk_create(messages)
    conversation.next_seq += len(messages)
    conversation.pending_count += len(messages)
    conversation.save(update_fields=["next_seq", "pending_count"])


def _request_forgetting(conversation: Conversation, messages: Sequence[Message]) -> None:
    """Queue what users ask to forget in these messages."""
    asking = [
        message.id
        for message in messages
        if message.role == Role.USER and read_request(message.content)
    ]
    if asking:
        named = {str(message_id): True for message_id in asking}
        enqueue(tenant=conversation.tenant, kind=Kind.FORGET, scope=conversation.id, input=named)


def request_segmentation_if_due(conversation: Conversation) -> None:
    """Queue a segmentation if the window calls for one; the caller holds the lock."""
    pending = conversation.pending_count
    full = pending >= window.size_limit(doubled=conversation.window_doubled)
    if full or (pending >= window.SMALLEST and queries.is_window_due(conversation)):
        enqueue(tenant=conversation.tenant, kind=Kind.SEGMENT, scope=conversation.id)


def request_consolidation(conversation: Conversation, *, force: bool = False) -> None:
    """Queue a consolidation if there are enough fresh episodes, or with `force` anyway."""
    enough = CONSOLIDATION_THRESHOLD
    if force or len(queries.fresh_episodes(conversation=conversation, at_most=enough)) == enough:
        flags = {"force": True} if force else {}
        enqueue(
            tenant=conversation.tenant,
            kind=Kind.CONSOLIDATE,
            scope=conversation.id,
            lane=conversation.lane,
            input=flags,
        )


def quarantine_message(conversation: Conversation, message: Message, *, job_id: uuid.UUID) -> None:
    """Take a message out of the window; the caller holds the conversation's lock.

    It stays stored and is shown as set aside, until a retry brings it back.

    Raises:
        SnapshotMoved: it has left the window meanwhile.
    """
    in_window = Message.objects.of(conversation.tenant).filter(queries.IN_WINDOW, id=message.id)
    if in_window.update(quarantined_by=job_id) != 1:
        raise SnapshotMoved(str(conversation.id))
    conversation.pending_count -= 1
    conversation.save(update_fields=["pending_count"])


def retry_set_aside(conversation: Conversation) -> Job | None:
    """Take up again what jobs have set aside; return the job that does, None for nothing.

    Messages return to the window, episodes become fresh, and everything is flushed.
    """
    with transaction.atomic():
        locked = queries.lock_conversation(conversation.tenant, conversation.id)
        messages = Message.objects.within(locked).filter(quarantined_by__isnull=False)
        back = messages.update(quarantined_by=None)
        fresh = retry_failed_consolidation(locked.tenant, locked.id)
        if not back + fresh:
            return None
        locked.pending_count += back
        locked.save(update_fields=["pending_count"])
        return request_flush(conversation=locked)


def request_flush(*, conversation: Conversation) -> Job:
    """Queue: close the whole window as it is now, then draw facts from every episode."""
    with transaction.atomic():
        locked = queries.lock_conversation(conversation.tenant, conversation.id)
        return enqueue(tenant=locked.tenant, kind=Kind.FLUSH, scope=locked.id, lane=locked.lane)


def mark_consolidated(tenant: Tenant, episodes: Iterable[Episode], *, now: datetime) -> int:
    """Mark episodes as drawn from; return how many were not marked before."""
    ids = [episode.id for episode in episodes]
    fresh = Episode.objects.of(tenant).filter(id__in=ids, consolidated_at=None)
    return fresh.update(consolidated_at=now)


def mark_consolidation_failed(tenant: Tenant, conversation_id: uuid.UUID, **of: uuid.UUID) -> None:
    """Set fresh episodes of a conversation aside, or one by `id`; a retry takes them up again."""
    fresh = Episode.objects.of(tenant).filter(queries.FRESH, conversation=conversation_id, **of)
    fresh.update(consolidation_failed_at=Now())


def retry_failed_consolidation(tenant: Tenant, conversation_id: uuid.UUID) -> int:
    """Make the episodes set aside fresh again; return how many."""
    failed = Episode.objects.of(tenant).filter(
        conversation=conversation_id, consolidation_failed_at__isnull=False
    )
    return failed.update(consolidation_failed_at=None)
