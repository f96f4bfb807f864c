"""Bringing back what a query is about: what is found, and what that is linked with.

Three steps: search within the hours that the level of focus looks back; follow the links
of the best that were found; put both together, each memory once and whole.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from memoryproject.errors import NotFound
from memoryproject.tenancy.models import Tenant
from retrieval import finding, memories, navigation, synthesis
from retrieval.memories import Whole
from retrieval.synthesis import Synthesis

EXPANDED = 5
"""Of what was found, the best whose links are followed."""
LINKED_AT_MOST = 100
"""Memories that links bring in: hubs have thousands of neighbours."""


@dataclass(frozen=True, slots=True)
class Focus:
    """How widely to look: memories to find, how far back, how many links to follow."""

    limit: int
    back: timedelta
    depth: int


LEVELS = (
    Focus(2, timedelta(hours=1), 0),
    Focus(5, timedelta(hours=4), 1),
    Focus(8, timedelta(hours=12), 1),
    Focus(10, timedelta(hours=24), 2),
    Focus(15, timedelta(hours=72), 3),
    Focus(20, timedelta(hours=168), 3),
)
"""By level, 0 to 5."""
USUAL_LEVEL = 3


@dataclass(frozen=True, slots=True)
class Request:
    """What to bring back. The filters narrow what is found, not what links lead to."""

    query: str
    focus_level: int = USUAL_LEVEL
    conversation_id: uuid.UUID | None = None
    """The agent's own."""
    user_id: str | None = None
    since: datetime | None = None
    """None: as far back as the level says."""
    until: datetime | None = None
    category: str | None = None
    min_importance: float | None = None
    emotion_valence: str | None = None
    max_tokens: int | None = None
    """Of the synthesized context; None: it holds everything."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory, and how it got here.

    `distance` is None and `depth` the number of links followed where no search found it.
    """

    memory: Whole
    distance: float | None
    depth: int
    linked_ids: tuple[uuid.UUID, ...]


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """What was brought back: found ones best first, then linked ones, nearest first."""

    since: datetime
    total: int
    """Memories before the budget was applied."""
    recalled: tuple[Recalled, ...]
    """Those that the text holds."""
    context: Synthesis
    cut: bool
    """Whether links lead to more than was brought back."""
    degraded: str = ""


@dataclass(frozen=True, slots=True)
class Around:
    """What links lead to, by id: how many steps away, nearest first."""

    depths: dict[uuid.UUID, int]
    cut: bool


def reconstruct(*, tenant: Tenant, request: Request, now: datetime) -> Reconstruction:
    """Bring back what a query is about, for a language model to read.

    Only what is held now is served: no deleted note, and no fact that is over.
    """
    focus = LEVELS[request.focus_level]
    since = request.since or now - focus.back
    distances = _search(tenant, request, since=since, at_most=focus.limit)
    around = explore(tenant=tenant, starts=list(distances)[:EXPANDED], depth=focus.depth)
    depths = dict.fromkeys(distances, 0)
    depths |= {one: depth for one, depth in around.depths.items() if one not in distances}
    held = memories.load_held(tenant=tenant, memory_ids=depths)
    merged = [held[memory_id] for memory_id in depths if memory_id in held]
    context = synthesis.synthesize(merged, max_tokens=request.max_tokens)
    linked = memories.neighbours(tenant=tenant, memory_ids=[one.id for one in context.held])
    return Reconstruction(
        since=since,
        total=len(merged),
        recalled=tuple(
            Recalled(
                memory=memory,
                distance=distances.get(memory.id),
                depth=depths[memory.id],
                linked_ids=tuple(linked[memory.id]),
            )
            for memory in context.held
        ),
        context=context,
        cut=around.cut,
    )


def explore(*, tenant: Tenant, starts: Sequence[uuid.UUID], depth: int) -> Around:
    """Follow the links of some memories, one statement each; a start is none of the result.

    Of more than LINKED_AT_MOST the nearest stay, and of those that are equally near what
    lies around the first start.
    """
    if depth == 0:
        return Around({}, cut=False)
    nearest: dict[uuid.UUID, int] = {}
    cut = False
    for start in starts:
        with suppress(NotFound):  # it was deleted just now
            walk = navigation.walk(
                tenant=tenant, start=start, depth=depth, at_most=LINKED_AT_MOST + len(starts)
            )
            cut = cut or walk.cut
            for node in walk.nodes:
                nearest[node.id] = min(node.depth, nearest.get(node.id, node.depth))
    ordered = sorted((one for one in nearest if one not in starts), key=nearest.__getitem__)
    kept = {memory_id: nearest[memory_id] for memory_id in ordered[:LINKED_AT_MOST]}
    return Around(kept, cut=cut or len(ordered) > LINKED_AT_MOST)
