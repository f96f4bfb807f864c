"""The flows that keep the mirror: page by page after each commit, and all of it anew.

Rows are the truth. A page is written from what is held when it is written, under the
tenant's lock, so whoever writes last has read last.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from episodic.models import Conversation
from indexing.models import Memory, MemoryKind
from jobs.claims import Claim, commit
from memoryproject.tenancy.models import Tenant
from notes.models import Link
from retrieval import memories, mirror
from retrieval.memories import Whole
from retrieval.mirror_page import Page, write_page

BATCH = 200


def mirror_changed(claim: Claim) -> None:
    """Write the pages of the memories that the job names, and remove those of what is over.

    Raises:
        FolderAway: some are not written; to be tried again.
        LeaseLost: somebody else does the same.
    """
    named = sorted(uuid.UUID(name) for name in claim.input)
    for start in range(0, len(named), BATCH):
        mirror_memories(tenant=claim.tenant, memory_ids=named[start : start + BATCH])
    with commit(claim):
        return


def mirror_memories(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> None:
    """Make the pages of some memories equal to their rows.

    Raises:
        FolderAway: the folder cannot be written.
    """
    with mirror.writing(tenant.id):
        pages = load_pages(tenant=tenant, memory_ids=memory_ids)
        for memory_id in memory_ids:
            page = pages.get(memory_id)
            if page is None:
                mirror.remove(tenant.id, memory_id)
            else:
                mirror.store_text(tenant.id, memory_id, write_page(page))


def load_pages(*, tenant: Tenant, memory_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Page]:
    """Return the pages of those of the memories that are held, by id."""
    held = memories.load_held(tenant=tenant, memory_ids=memory_ids)
    homes = Conversation.objects.of(tenant).in_bulk(
        {one.conversation_id for one in held.values() if one.conversation_id}
    )
    links: dict[uuid.UUID, list[tuple[str, uuid.UUID]]] = defaultdict(list)
    drawn = Link.objects.of(tenant).filter(
        from_memory__in=held, to_memory__in=Memory.objects.of(tenant)
    )
    for link in drawn.order_by("id"):
        links[link.from_memory_id].append((link.link_type, link.to_memory_id))
    return {memory_id: _make_page(one, homes, links[memory_id]) for memory_id, one in held.items()}


def _make_page(
    memory: Whole,
    homes: dict[uuid.UUID, Conversation],
    links: Sequence[tuple[str, uuid.UUID]],
) -> Page:
    home = homes.get(memory.conversation_id) if memory.conversation_id else None
    return Page(
        id=memory.id,
        kind=memory.kind.value,
        source_type=memory.source_type,
        source_id=memory.source_id or _source_of(memory, home),
        label=memory.label,
        content=memory.content,
        importance=memory.importance,
        at=memory.at,
        created_at=memory.created_at,
        conversation=home.external_id if home else None,
        user_id=memory.user_id,
        category=memory.category,
        emotion_type=memory.emotion_type,
        emotion_intensity=memory.emotion_intensity,
        emotion_valence=memory.emotion_valence,
        tags=memory.tags,
        links=tuple(links),
    )


def _source_of(memory: Whole, home: Conversation | None) -> str:
    """Return what an episode or a fact has as source: the agent's id of its conversation."""
    return "" if home is None or memory.kind is MemoryKind.NOTE else str(home.external_id)


def rebuild(*, tenant: Tenant, report: Callable[[int], None]) -> None:
    """Write every page of a tenant anew, and remove those of what is not held.

    May run beside everything else. `report` is told how many memories are done.

    Raises:
        FolderAway: the folder cannot be written.
    """
    after = uuid.UUID(int=0)
    while True:
        rows = Memory.objects.of(tenant).filter(id__gt=after).order_by("id")
        batch = list(rows.values_list("id", flat=True)[:BATCH])
        if not batch:
            break
        mirror_memories(tenant=tenant, memory_ids=batch)
        report(len(batch))
        after = batch[-1]
    pages = (memory_id for memory_id, _ in mirror.pages_of(tenant.id))
    while some := list(islice(pages, BATCH)):
        there = set(Memory.objects.of(tenant).filter(id__in=some).values_list("id", flat=True))
        for memory_id in set(some) - there:
            mirror.remove(tenant.id, memory_id)
