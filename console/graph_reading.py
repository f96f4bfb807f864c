"""What lies around a memory, as a page draws it: named memories, and the links among them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from episodic.models import Episode
from indexing.models import Memory, MemoryKind
from memoryproject.tenancy.models import Tenant
from notes.models import Link
from notes.queries import notes_held
from retrieval import navigation
from retrieval.memories import neighbours
from retrieval.navigation import Between, Node
from semantic.models import Fact

NODES_AT_MOST = 60
"""Beside the centre: more than that is a thicket."""


@dataclass(frozen=True, slots=True)
class Named:
    """A memory with the words that it is shown by. `state`: of a fact why it is over."""

    id: uuid.UUID
    kind: str
    label: str
    about: str
    at: datetime
    state: str = ""


@dataclass(frozen=True, slots=True)
class Graph:
    """A memory and what lies around it. `cut`: more lies within the depth than is shown.

    `hidden` says of each memory how many it is linked with that are not shown, of its newest
    neighbours.
    """

    centre: Named
    nodes: Sequence[Node]
    named: dict[uuid.UUID, Named]
    links: Sequence[Between]
    hidden: dict[uuid.UUID, int]
    cut: bool


def read_graph(
    *, tenant: Tenant, centre: uuid.UUID, depth: int, link_types: Sequence[str]
) -> Graph | None:
    """Return what lies around a memory, in nine statements, however much it is.

    None: the tenant has no such memory, or it is a note that was deleted.
    """
    named = name_memories(tenant=tenant, memory_ids=[centre])
    if centre not in named:
        return None
    walk = navigation.walk(
        tenant=tenant, start=centre, depth=depth, at_most=NODES_AT_MOST, link_types=link_types
    )
    named |= name_memories(tenant=tenant, memory_ids=[node.id for node in walk.nodes])
    nodes = list(_within_reach(walk.nodes, centre, named))
    shown = [centre, *(node.id for node in nodes)]
    beside = neighbours(tenant=tenant, memory_ids=shown)
    return Graph(
        centre=named[centre],
        nodes=nodes,
        named={memory_id: named[memory_id] for memory_id in shown},
        links=navigation.links_between(tenant=tenant, memory_ids=shown, link_types=link_types),
        hidden={
            memory_id: len(set(found).difference(shown)) for memory_id, found in beside.items()
        },
        cut=walk.cut,
    )


def _within_reach(
    nodes: Sequence[Node], centre: uuid.UUID, named: dict[uuid.UUID, Named]
) -> Iterator[Node]:
    """Yield the nodes that have words, by a path of such: a row may go while it is read."""
    kept = {centre}
    for node in nodes:
        if node.id in named and node.via in kept:
            kept.add(node.id)
            yield node


def name_memories(*, tenant: Tenant, memory_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Named]:
    """Return those of the memories that the tenant has, by id, in three queries.

    Facts that are over are among them, deleted notes are not.
    """
    found: list[Named] = []
    for fact in Fact.objects.of(tenant).filter(id__in=memory_ids):
        found.append(
            Named(
                fact.id, MemoryKind.FACT.value, fact.fact, fact.category, fact.valid_at,
                fact.invalidated_because if fact.invalid_at else "",
            )
        )  # fmt: skip
    for episode in Episode.objects.of(tenant).filter(id__in=memory_ids):
        about = f"messages {episode.first_seq} to {episode.last_seq}"
        kind = MemoryKind.EPISODE.value
        found.append(Named(episode.id, kind, episode.title, about, episode.start_at))
    for note in notes_held(tenant=tenant).filter(id__in=memory_ids):
        about = note.source_type.replace("_", " ")
        kind = MemoryKind.NOTE.value
        found.append(Named(note.id, kind, note.label, about, note.occurred_at))
    return {one.id: one for one in found}


def find_memory(memory_id: uuid.UUID) -> Memory | None:
    """Return a memory of any tenant, with its tenant; None: there is none of that id."""
    return Memory.across_tenants.select_related("tenant").filter(id=memory_id).first()


def name_ends(link: Link) -> tuple[Named | None, Named | None]:
    """Return both ends of a link by their words; None: a note that was deleted."""
    ends = (link.from_memory_id, link.to_memory_id)
    named = name_memories(tenant=link.tenant, memory_ids=ends)
    return named.get(ends[0]), named.get(ends[1])
