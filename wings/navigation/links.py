"""Lists and follows links between memories.

Links of agents and people are rows of `notes`. That a fact comes from an episode, that it replaces
another, and that episodes follow each other is read from the tables of facts and episodes, so that
a revert also changes these links.
"""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from episodic.models import Episode
from indexing.kinds import LINK_TYPES
from memoryproject.database.clock import execute
from memoryproject.edge.errors import NotFound
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import Tenant
from retrieval.statements import read_edges
from semantic.models import Fact
from wings.notes.link_services import has_memory
from wings.notes.models import Note

DEPTH_AT_MOST = 5
NODES_AT_MOST = 1_000
NEIGHBOURS_AT_MOST = 50
"""Number of neighbors of a memory by links of one type and direction."""


class Node(NamedTuple):
    """A memory that a walk found, and the link by which it was first reached."""

    id: uuid.UUID
    kind: str
    depth: int
    via: uuid.UUID
    """The memory one step nearer to the start."""
    link_type: str
    outward: bool
    """Whether the link points from `via` to this memory."""

    @property
    def from_id(self) -> uuid.UUID:
        return self.via if self.outward else self.id

    @property
    def to_id(self) -> uuid.UUID:
        return self.id if self.outward else self.via


class Walk(NamedTuple):
    """The memories around one, nearest first, then newest. `cut`: there are more."""

    nodes: tuple[Node, ...]
    cut: bool


class Edge(NamedTuple):
    """A link of a memory. `link_id` is None where the server derives it."""

    from_id: uuid.UUID
    to_id: uuid.UUID
    link_id: uuid.UUID | None
    other_id: uuid.UUID
    other_kind: str
    link_type: str
    outward: bool
    made_by: str
    actor: str | None
    created_at: datetime | None


Place = tuple[uuid.UUID, str, bool]
"""Position at which a page of links ended: the other memory, the type, and the direction."""


def walk(
    *,
    tenant: Tenant,
    start: uuid.UUID,
    depth: int,
    at_most: int = NODES_AT_MOST,
    link_types: Sequence[str] = LINK_TYPES,
) -> Walk:
    """Return the memories within `depth` steps in both directions, each once, without the start.

    One statement. If there are more than `at_most`, the nearest are returned, ties newest first.

    Raises:
        NotFound: the tenant has no such memory.
    """
    require_memory(tenant, start)
    return walk_from(
        tenant=tenant, starts=[start], depth=depth, at_most=at_most, link_types=link_types
    )


def walk_from(
    *,
    tenant: Tenant,
    starts: Sequence[uuid.UUID],
    depth: int,
    at_most: int = NODES_AT_MOST,
    link_types: Sequence[str] = LINK_TYPES,
) -> Walk:
    """Return the memories within `depth` steps of several others, without these.

    One statement. Unknown memories are ignored.
    """
    params = {
        "tenant": tenant.id,
        "starts": list(starts),
        "depth": depth,
        "at_most": at_most,
        "types": list(link_types),
        "fan": at_most + 1 + len(starts),
    }
    rows = execute(read_edges("walk.sql", once=True), params) if depth and starts else []
    nodes = _keep_visible(tenant, [Node(*row[:-1]) for row in rows])
    return Walk(nodes, cut=bool(rows and rows[0][-1]))


def _keep_visible(tenant: Tenant, nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Leave out memories that a key bound to users may not see, or reach only through such."""
    seen = find_visible(tenant, [id_ for node in nodes for id_ in (node.id, node.via)])
    if seen is None:
        return tuple(nodes)
    reached = seen.difference(node.id for node in nodes)
    kept: list[Node] = []
    for node in nodes:
        if node.id in seen and node.via in reached:
            reached.add(node.id)
            kept.append(node)
    return tuple(kept)


def find_visible(tenant: Tenant, memory_ids: Iterable[uuid.UUID]) -> set[uuid.UUID] | None:
    """Return the memories that the caller's key may see; None: it is bound to no users."""
    if walls.get_users() is None:
        return None
    ids = set(memory_ids)
    return {
        memory_id
        for table in (Episode, Fact, Note)
        for memory_id in table.objects.of(tenant).filter(id__in=ids).values_list("id", flat=True)
    }


def links_of(
    *,
    tenant: Tenant,
    memory_id: uuid.UUID,
    at_most: int,
    link_types: Sequence[str] = LINK_TYPES,
    after: Place | None = None,
) -> list[Edge]:
    """Return links of a memory in both directions, those to the newest memories first.

    Raises:
        NotFound: the tenant has no such memory.
    """
    require_memory(tenant, memory_id)
    after_id, after_type, after_outward = after or (None, None, None)
    params = {
        "tenant": tenant.id,
        "memory": memory_id,
        "types": list(link_types),
        "at_most": at_most,
        "fan": None,
        "after_id": after_id,
        "after_type": after_type,
        "after_outward": after_outward,
    }
    rows = execute(read_edges("links.sql", once=False), params)
    seen = find_visible(tenant, [row[1] for row in rows])
    return [
        Edge(*((memory_id, row[1]) if row[4] else (row[1], memory_id)), *row)
        for row in rows
        if seen is None or row[1] in seen
    ]


def neighbours(
    *, tenant: Tenant, memory_ids: Iterable[uuid.UUID]
) -> dict[uuid.UUID, list[uuid.UUID]]:
    """Return each memory's directly linked ones, in both directions, newest first.

    One statement; includes stored and derived links.
    """
    ids = list(memory_ids)
    linked: dict[uuid.UUID, list[uuid.UUID]] = {memory_id: [] for memory_id in ids}
    params = {
        "tenant": tenant.id,
        "memories": ids,
        "types": list(LINK_TYPES),
        "fan": NEIGHBOURS_AT_MOST,
    }
    pairs = execute(read_edges("neighbours.sql", once=True), params)
    seen = find_visible(tenant, [other for _, other in pairs])
    for memory_id, other in pairs:
        if seen is None or other in seen:
            linked[memory_id].append(other)
    return linked


def require_memory(tenant: Tenant, memory_id: uuid.UUID) -> None:
    """Raise NotFound if the tenant has no such memory, or it is a deleted note."""
    if not has_memory(tenant=tenant, memory_id=memory_id):
        raise NotFound("There is no such memory.")
