"""Labels of memories and conversations, and the answers that served a memory."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.urls import reverse
from django.utils.text import Truncator

from episodic.models import Conversation, Episode
from episodic.naming import NOBODY, render_name, with_names
from episodic.revealing import Reader
from memoryproject.adminkit.values import MEMORY_PAGES
from memoryproject.tenancy.models import Tenant, TenantModel
from retrieval.models import RetrievalHit
from semantic.models import Fact
from wings.notes.models import Note
from wings.notes.queries import active_notes

NAME_AT_MOST = 50
"""Number of characters of a conversation's name in a list."""


class MemoryLabel(NamedTuple):
    """A memory with its label. `state`: why a fact is retired."""

    id: uuid.UUID
    kind: str
    label: str
    about: str
    at: datetime
    state: str = ""

    @property
    def page(self) -> str:
        return reverse(f"admin:{MEMORY_PAGES[self.kind]}_change", args=[self.id])


def find_conversation(named: uuid.UUID, tenant: Tenant | None) -> Conversation | None:
    """Return the conversation with this id, the agent's or else ours, of any tenant."""
    rows = Conversation.across_tenants.select_related("tenant")
    of_agent = rows.filter(external_id=named, tenant=tenant).first() if tenant else None
    return of_agent or rows.filter(id=named).first()


def name_conversations(ids: Iterable[Any], reader: Reader | None) -> dict[Any, str]:
    """Return conversations with speakers and, if the reader may read them, first words."""
    rows = with_names(Conversation.across_tenants.filter(id__in=set(ids)))
    return {
        row.id: render_name(row, may_read=reader is not None and reader.may_read(row.id))
        for row in rows
    }


def set_names(rows: Iterable[Any], reader: Reader | None) -> None:
    """Set `names` on rows that have a conversation: its name, by column; none if nobody spoke."""
    placed = [row for row in rows if getattr(row, "conversation_id", None)]
    names = name_conversations((row.conversation_id for row in placed), reader) if placed else {}
    for row in placed:
        name = Truncator(names.get(row.conversation_id, NOBODY)).chars(NAME_AT_MOST)
        row.names = {} if name == NOBODY else {"conversation": name, "conversation_id": name}


def name_memories(
    *, tenant: Tenant, memory_ids: Sequence[uuid.UUID], reader: Reader
) -> dict[uuid.UUID, MemoryLabel]:
    """Return the tenant's memories among these, by id, by three queries.

    With retired facts, without deleted notes.
    """
    episodes = reader.rows(Episode.objects.of(tenant))
    tables = (Fact.objects.of(tenant), episodes, active_notes(tenant=tenant))
    rows = (row for table in tables for row in table.filter(id__in=memory_ids))
    return {row.id: label_memory(row) for row in rows}


def label_memory(row: Fact | Episode | Note) -> MemoryLabel:
    if isinstance(row, Fact):
        state = row.invalidated_because
        return MemoryLabel(row.id, "fact", row.fact, row.category, row.valid_at, state)
    if isinstance(row, Episode):
        about = f"messages {row.first_seq} to {row.last_seq}"
        return MemoryLabel(row.id, "episode", row.title, about, row.start_at)
    about = row.source_type.replace("_", " ")
    return MemoryLabel(row.id, "note", row.label, about, row.occurred_at)


def list_servings(memory: TenantModel, at_most: int) -> list[RetrievalHit]:
    """Return the newest answers that served a memory. Uses index: retrieval_hit_by_memory."""
    hits = RetrievalHit.objects.of(memory.tenant).filter(memory_id=memory.pk)
    return list(hits.select_related("retrieval__asked_by").order_by("-id")[:at_most])


def count_servings(memory: TenantModel) -> int:
    """Return how many answers served a memory, up to 10,000."""
    hits = RetrievalHit.objects.of(memory.tenant).filter(memory_id=memory.pk)
    return hits[: settings.COUNTED_AT_MOST].count()
