"""The graph around a memory: memories with their labels, and the links among them."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from console.labels import MemoryLabel, name_memories
from indexing.models import Memory
from memoryproject.tenancy.models import Tenant
from notes.models import Link
from retrieval import links
from retrieval.links import Between, Node, neighbours

NODES_AT_MOST = 60
"""Beside the centre."""


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


def find_memory(memory_id: uuid.UUID) -> Memory | None:
    """Return a memory of any tenant, with its tenant; None: there is none of that id."""
    return Memory.across_tenants.select_related("tenant").filter(id=memory_id).first()


def name_ends(link: Link) -> tuple[MemoryLabel | None, MemoryLabel | None]:
    """Return both ends of a link by their words; None: a note that was deleted."""
    ends = (link.from_memory_id, link.to_memory_id)
    named = name_memories(tenant=link.tenant, memory_ids=ends)
    return named.get(ends[0]), named.get(ends[1])
