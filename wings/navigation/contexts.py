"""Builds a text for one prompt, memory by memory, within a budget.

Used tokens are the sum of all sections and separators. No counter gives more for the whole text
than for its parts, so the text stays within the budget.
"""

import uuid
from datetime import timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F

from episodic.queries import database_now
from indexing.models import Memory as MemoryRow
from memoryproject.ai.counting import COUNTERS
from memoryproject.edge.errors import Problem, get_row
from memoryproject.tenancy.models import APIKey, Tenant
from memoryproject.text import tokens
from memoryproject.text.cleaning import DEFANGED
from retrieval.memory import load_memory
from retrieval.models import Context, ContextSection
from retrieval.truncation import Strategy
from wings.navigation import reading
from wings.notes import queries as note_queries

SYSTEM_PRIORITY = 100
PRIORITY = 50
ADDED_AT_MOST = 500
"""Largest size of one memory in tokens."""
RESERVED = 500
EXPIRES_AFTER = timedelta(hours=24)
OUTCOMES = ADDED, ALREADY_THERE, NO_ROOM = "added", "already_there", "no_room"


class Addition(NamedTuple):
    """Result of adding a memory; `section` is None if there was no room."""

    context: Context
    memory_id: uuid.UUID
    reason: str
    section: ContextSection | None

    @property
    def has_memory(self) -> bool:
        return self.section is not None

    @property
    def token_count(self) -> int:
        """Return the size of its section; 0 without one."""
        return self.section.tokens if self.section else 0


def create_context(
    *,
    tenant: Tenant,
    made_by: APIKey | None,
    max_tokens: int,
    system_prompt: str = "",
    reserved_for_response: int = RESERVED,
    expires_after: timedelta = EXPIRES_AFTER,
) -> Context:
    """Start a context; its tokens are counted by the current counter.

    Raises:
        Problem: the system prompt does not fit. It is not cut, since half of it may say the
            opposite.
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
    room = context.remaining_tokens
    if size > room:
        message = f"This takes {size} tokens; {room} are left beside the response."
        raise Problem("The request has errors.", fields={"system_prompt": [message]})
    with transaction.atomic():
        context.save(force_insert=True)
        if system_prompt:
            _add_section(
                context,
                kind=ContextSection.Kind.SYSTEM,
                position=0,
                priority=SYSTEM_PRIORITY,
                content=system_prompt,
                tokens=size,
                truncated=False,
            )
    return get_context(tenant=tenant, context_id=context.id)


def get_context(*, tenant: Tenant, context_id: uuid.UUID) -> Context:
    """Return a context with its sections: highest priority first, then in order of adding.

    A note deleted since is left out; its tokens still count as used.

    Raises:
        NotFound: the tenant has no such context, or it has expired.
    """
    context = _get_row(tenant, context_id)
    rows = ContextSection.objects.of(tenant).filter(context=context)
    sections = list(rows.order_by(F("priority").desc(), "position"))
    gone = note_queries.deleted_among(
        tenant=tenant, memory_ids=[row.memory_id for row in sections if row.memory_id]
    )
    context.sections = [row for row in sections if row.memory_id not in gone]
    return context


@transaction.atomic
def add_memory(
    *,
    tenant: Tenant,
    context_id: uuid.UUID,
    memory_id: uuid.UUID,
    max_tokens: int = ADDED_AT_MOST,
    priority: int = PRIORITY,
    style: str = DEFANGED,
) -> Addition:
    """Add as much of a memory as fits, with a header; an existing section is not changed.

    Locks the memory, so that an erasure either sees the addition or comes before it, and the
    context, so that concurrent additions wait for each other.

    Raises:
        NotFound: the tenant has no such context or memory, or the context has expired.
    """
    MemoryRow.objects.of(tenant).filter(id=memory_id).select_for_update(no_key=True).first()
    memory = load_memory(tenant=tenant, memory_id=memory_id, style=style)
    context = _get_row(tenant, context_id, lock=True)
    rows = ContextSection.objects.of(tenant).filter(context=context)
    section = rows.filter(memory=memory.id).first()
    if section is not None:
        return Addition(context, memory.id, ALREADY_THERE, section)
    position = rows.count()
    counter = COUNTERS.get(context.counter, COUNTERS["max"])  # one of before is never above it
    separator = counter.count(Context.SEPARATOR) if position else 0
    chunk = reading.cut_memory(
        memory,
        max_tokens=min(max_tokens, context.remaining_tokens - separator),
        strategy=Strategy.END,
        include_header=True,
        counter=counter,
    )
    if not chunk.content:
        return Addition(context, memory.id, NO_ROOM, None)
    section = _add_section(
        context,
        separator=separator,
        kind=ContextSection.Kind.RETRIEVED,
        memory_id=memory.id,
        position=position,
        priority=priority,
        content=chunk.content,
        tokens=chunk.token_count,
        truncated=chunk.truncated,
    )
    return Addition(context, memory.id, ADDED, section)


def delete_expired(*, at_most: int) -> int:
    """Delete contexts of all tenants that have expired; return how many.

    For the reconciler. A context being added to is left for the next time. Uses index:
    retrieval_context_by_expiry.
    """
    expired = Context.across_tenants.filter(expires_at__lte=database_now())
    rows = expired.order_by("expires_at", "id").values_list("tenant", "id")
    due: dict[uuid.UUID, list[uuid.UUID]] = {}
    for owner, context_id in rows[:at_most]:
        due.setdefault(owner, []).append(context_id)
    return sum(_delete_of(owner, ids) for owner, ids in due.items())


def _delete_of(owner: uuid.UUID, ids: list[uuid.UUID]) -> int:
    """Delete those contexts of one tenant that are not locked; return how many."""
    with transaction.atomic():
        contexts = Context.across_tenants.filter(tenant=owner, id__in=ids)
        free = contexts.order_by("id").select_for_update(skip_locked=True)
        locked = list(free.values_list("id", flat=True))
        ContextSection.across_tenants.filter(tenant=owner, context__in=locked).delete()
        return contexts.filter(id__in=locked).delete()[0]


def _add_section(context: Context, *, separator: int = 0, **fields: Any) -> ContextSection:
    """Store a section, of a memory or else the system prompt, and its size."""
    section = ContextSection(tenant=context.tenant, context=context, **fields)
    context.used_tokens += separator + section.tokens
    context.save(update_fields=["used_tokens"])
    section.save(force_insert=True)
    return section


def _get_row(tenant: Tenant, context_id: uuid.UUID, *, lock: bool = False) -> Context:
    live = Context.objects.of(tenant).filter(expires_at__gt=database_now())
    rows = live.select_for_update() if lock else live
    return get_row(rows, "context, or it has expired", id=context_id)
