"""The graph around a memory: memories with their labels, and the links among them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from episodic.models import Episode
from indexing.models import Memory
from memoryproject.adminkit.values import MEMORY_PAGES
from memoryproject.tenancy.models import Tenant
from notes.models import Link, Note
from notes.queries import active_notes
from retrieval import links
from retrieval.links import Between, Node, neighbours
from semantic.models import Fact

NODES_AT_MOST = 60
"""Beside the centre."""


@dataclass(frozen=True, slots=True)
class MemoryLabel:
    """A memory with its label. `state`: why a fact is retired."""

    id: uuid.UUID
    kind: str
    label: str
    about: str
    at: datetime
    state: str = ""

    @property
    def page(self) -> str:
        """The address of its own page."""
        return reverse(f"admin:{MEMORY_PAGES[self.kind]}_change", args=[self.id])


@dataclass(frozen=True, slots=True)
class Graph:
    """A memory and its neighbourhood. `cut`: there is more within the depth than is shown.

    `hidden` says of each memory how many it is linked with that are not shown, of its newest
    neighbours.
    """

    centre: MemoryLabel
    nodes: Sequence[Node]
    named: dict[uuid.UUID, MemoryLabel]
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
    walk = links.walk(
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
        links=links.links_between(tenant=tenant, memory_ids=shown, link_types=link_types),
        hidden={memory_id: len(set(ids).difference(shown)) for memory_id, ids in beside.items()},
        cut=walk.cut,
    )


def _within_reach(
    nodes: Sequence[Node], centre: uuid.UUID, named: dict[uuid.UUID, MemoryLabel]
) -> Iterator[Node]:
    """Yield the nodes that have words, by a path of such: a row may go while it is read."""
    kept = {centre}
    for node in nodes:
        if node.id in named and node.via in kept:
            kept.add(node.id)
            yield node


def name_memories(
    *, tenant: Tenant, memory_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, MemoryLabel]:
    """Return those of the memories that the tenant has, by id, in three queries.

    Facts that are over are among them, deleted notes are not.
    """
    tables = (Fact.objects.of(tenant), Episode.objects.of(tenant), active_notes(tenant=tenant))
    rows = (row for table in tables for row in table.filter(id__in=memory_ids))
    return {row.id: label_memory(row) for row in rows}


def label_memory(row: Fact | Episode | Note) -> MemoryLabel:
    """Return a memory with its label."""
    if isinstance(row, Fact):
        state = row.invalidated_because
        return MemoryLabel(row.id, "fact", row.fact, row.category, row.valid_at, state)
    if isinstance(row, Episode):
        about = f"messages {row.first_seq} to {row.last_seq}"
        return MemoryLabel(row.id, "episode", row.title, about, row.start_at)
    about = row.source_type.replace("_", " ")
    return MemoryLabel(row.id, "note", row.label, about, row.occurred_at)


def find_memory(memory_id: uuid.UUID) -> Memory | None:
    """Return a memory of any tenant, with its tenant; None: there is none of that id."""
    return Memory.across_tenants.select_related("tenant").filter(id=memory_id).first()


def name_ends(link: Link) -> tuple[MemoryLabel | None, MemoryLabel | None]:
    """Return both ends of a link by their words; None: a note that was deleted."""
    ends = (link.from_memory_id, link.to_memory_id)
    named = name_memories(tenant=link.tenant, memory_ids=ends)
    return named.get(ends[0]), named.get(ends[1])
