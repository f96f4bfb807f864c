"""Putting a text together for one prompt, memory by memory, within a budget.

What is used is added up: each section by itself, and what parts it from the one before. No
counter counts a whole larger than that, so the text keeps within it too.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import F

from episodic.queries import database_now
from indexing.models import Memory
from memoryproject import tokens
from memoryproject.ai.counting import get_counter
from memoryproject.errors import NotFound, Problem
from memoryproject.tenancy.models import APIKey, Tenant
from notes import queries as note_queries
from retrieval import reading
from retrieval.contents import Content, load_content
from retrieval.cutting import Strategy
from retrieval.models import Context, ContextSection
from retrieval.reading import Chunk

SEPARATOR = "\n\n"
SYSTEM_PRIORITY = 100
PRIORITY = 50
ADDED_AT_MOST = 500
"""Tokens of one memory."""
RESERVED = 500
EXPIRES_AFTER = timedelta(hours=24)
ADDED, ALREADY_THERE, NO_ROOM = "added", "already_there", "no_room"


@dataclass(frozen=True, slots=True)
class Built:
    """A context with its sections, in the order of its text."""

    context: Context
    sections: tuple[ContextSection, ...]

    @property
    def text(self) -> str:
        """Return what goes into the prompt."""
        return SEPARATOR.join(section.content for section in self.sections)

    @property
    def remaining_tokens(self) -> int:
        """Return what may still be added, with the separator before it."""
        return _remaining(self.context)


@dataclass(frozen=True, slots=True)
class Added:
    """What became of an attempt to add a memory; `section` is None where there was no room."""

    reason: str
    section: ContextSection | None
    context: Context

    @property
    def remaining_tokens(self) -> int:
        """Return what may still be added."""
        return _remaining(self.context)


def make_context(
    *,
    tenant: Tenant,
    made_by: APIKey | None,
    max_tokens: int,
    system_prompt: str = "",
    reserved_for_response: int = RESERVED,
    expires_after: timedelta = EXPIRES_AFTER,
) -> Built:
    """Start a context; its tokens are counted by the counter that is configured now.

    Raises:
        Problem: the system prompt does not fit. It is not cut: half of one may say the opposite.
    """
    counter = tokens.in_use()
    now = database_now()
    context = Context(
        tenant=tenant,
        made_by=made_by,
        max_tokens=max_tokens,
        reserved_tokens=reserved_for_response,
        counter=counter.name,
        created_at=now,
        expires_at=now + expires_after,
    )
    size = counter.count(system_prompt)
    if size > _remaining(context):
        message = f"This takes {size} tokens; {_remaining(context)} are left beside the response."
        raise Problem("The request has errors.", fields={"system_prompt": [message]})
    with transaction.atomic():
        context.save(force_insert=True)
        if system_prompt:
            _add_section(
                context,
                position=0,
                priority=SYSTEM_PRIORITY,
                content=system_prompt,
                size=size,
            )
    return build(tenant=tenant, context_id=context.id)


def build(*, tenant: Tenant, context_id: uuid.UUID) -> Built:
    """Return a context as it stands: highest priority first, then in the order of adding.

    A note that was deleted since is left out; the room that it took stays taken.

    Raises:
        NotFound: the tenant has no such context, or it has expired.
    """
    context = _find(tenant, context_id)
    rows = ContextSection.objects.of(tenant).filter(context=context)
    sections = list(rows.order_by(F("priority").desc(), "position"))
    gone = note_queries.deleted_among(
        tenant=tenant, memory_ids=[row.memory_id for row in sections if row.memory_id]
    )
    return Built(context, tuple(row for row in sections if row.memory_id not in gone))


def add_memory(
    *,
    tenant: Tenant,
    context_id: uuid.UUID,
    memory_id: uuid.UUID,
    max_tokens: int = ADDED_AT_MOST,
    priority: int = PRIORITY,
) -> Added:
    """Add as much of a memory as fits, under a header; what is there already stays as it is.

    Locks the memory, so that an erasure of what it quotes sees what is added, or goes first;
    and the context: additions at the same time stand in line.

    Raises:
        NotFound: the tenant has no such context or memory, or the context has expired.
    """
    with transaction.atomic():
        Memory.objects.of(tenant).filter(id=memory_id).select_for_update(no_key=True).first()
        content = load_content(tenant=tenant, memory_id=memory_id)
        return _add(tenant, context_id, content, max_tokens=max_tokens, priority=priority)


def _add(
    tenant: Tenant, context_id: uuid.UUID, content: Content, *, max_tokens: int, priority: int
) -> Added:
    memory_id = content.memory_id
    context = _find(tenant, context_id, lock=True)
    rows = ContextSection.objects.of(tenant).filter(context=context)
    there = rows.filter(memory=memory_id).first()
    if there is not None:
        return Added(ALREADY_THERE, there, context)
    position = rows.count()
    parting = get_counter(context.counter).count(SEPARATOR) if position else 0
    room = min(max_tokens, _remaining(context) - parting)
    chunk = _fit(context, content, room=room)
    if not chunk.content:
        return Added(NO_ROOM, None, context)
    section = _add_section(
        context,
        position=position,
        priority=priority,
        content=chunk.content,
        size=chunk.token_count,
        parting=parting,
        memory_id=memory_id,
        truncated=chunk.truncated,
    )
    return Added(ADDED, section, context)


def delete_expired(*, at_most: int) -> int:
    """Delete contexts of all tenants that have expired; return how many.

    For the reconciler. One that somebody is adding to is left for the next time.
    Uses index: retrieval_context_by_expiry.
    """
    with transaction.atomic():
        expired = Context.across_tenants.filter(expires_at__lte=database_now())
        locked = expired.order_by("expires_at", "id").select_for_update(skip_locked=True)
        ids = list(locked.values_list("id", flat=True)[:at_most])
        ContextSection.across_tenants.filter(context__in=ids).delete()
        Context.across_tenants.filter(id__in=ids).delete()
    return len(ids)


def _fit(context: Context, content: Content, *, room: int) -> Chunk:
    return reading.fit(
        content,
        max_tokens=room,
        strategy=Strategy.END,
        include_header=True,
        counter=get_counter(context.counter),
    )


def _add_section(
    context: Context,
    *,
    position: int,
    priority: int,
    content: str,
    size: int,
    parting: int = 0,
    memory_id: uuid.UUID | None = None,
    truncated: bool = False,
) -> ContextSection:
    """Write a section, of a memory or without one the system prompt, and what it takes."""
    context.used_tokens += parting + size
    context.save(update_fields=["used_tokens"])
    kind = ContextSection.Kind.RETRIEVED if memory_id else ContextSection.Kind.SYSTEM
    return ContextSection.objects.create(
        tenant=context.tenant,
        context=context,
        kind=kind,
        memory_id=memory_id,
        position=position,
        priority=priority,
        content=content,
        tokens=size,
        truncated=truncated,
    )


def _remaining(context: Context) -> int:
    return max(0, context.max_tokens - context.reserved_tokens - context.used_tokens)


def _find(tenant: Tenant, context_id: uuid.UUID, *, lock: bool = False) -> Context:
    live = Context.objects.of(tenant).filter(id=context_id, expires_at__gt=database_now())
    context = (live.select_for_update() if lock else live).first()
    if context is None:
        raise NotFound("There is no such context, or it has expired.")
    context.tenant = tenant
    return context
