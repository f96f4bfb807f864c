"""Bringing back what a query is about: what is found, and what that is linked with.

Three steps: search within the hours that the level of focus looks back; follow the links
of the best that were found; put both together, each memory once and whole.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from memoryproject.fields import say_moment
from memoryproject.tenancy.models import APIKey, Tenant
from retrieval import fencing, finding, memories, mirror, navigation, receipts, synthesis
from retrieval.fencing import Fence
from retrieval.finding import Finding
from retrieval.memories import Whole
from retrieval.models import Retrieval
from retrieval.search import Found
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
    asked_in: uuid.UUID | None = None
    """The agent's own id of the conversation that the answer is for; it narrows nothing."""
    fence: bool = False
    """Whether the synthesized context stands between marks that say it is data."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory, and how it got here.

    `distance` is None where meaning did not find it; `depth` is the number of links followed
    from what the search found, 0 for that itself.
    """

    memory: Whole
    finding: Finding | None
    """How it was found; None: links led to it, or no search of ours found it."""
    distance: float | None
    depth: int
    linked_ids: tuple[uuid.UUID, ...]
    file_path: str | None
    """Of its page in the mirror; None: there is none."""


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
    embedding_model: str = ""
    degraded: str = ""
    fence: Fence | None = None
    receipt: Retrieval | None = None
    """None: nothing was written down."""


@dataclass(frozen=True, slots=True)
class Around:
    """What links lead to, by id: how many steps away, nearest first."""

    depths: dict[uuid.UUID, int]
    cut: bool


def reconstruct(
    *, tenant: Tenant, asked_by: APIKey | None, request: Request, now: datetime
) -> Reconstruction:
    """Bring back what a query is about, for a language model to read, and write the receipt.

    Only what is held now is served: no deleted note, and no fact that is over.
    """
    started = time.monotonic()
    answer = bring_back(tenant=tenant, request=request, now=now)
    receipt = receipts.write_receipt(
        asked=receipts.Asked(
            tenant=tenant,
            asked_by=asked_by,
            kind=Retrieval.Kind.RECONSTRUCT,
            query=request.query,
            parameters=_say_request(request, since=answer.since),
        ),
        conversation=receipts.find_audience(
            tenant=tenant, asked_in=request.asked_in, conversation_id=request.conversation_id
        ),
        served=[_to_served(place, one) for place, one in enumerate(answer.recalled, start=1)],
        embedding_model=answer.embedding_model,
        degraded=answer.degraded,
        tokens=answer.context.tokens,
        latency_ms=round((time.monotonic() - started) * 1000),
    )
    return replace(answer, receipt=receipt)


def _say_request(request: Request, *, since: datetime) -> dict[str, Any]:
    """Return every parameter as it was applied, the query aside."""
    return {
        "focus_level": request.focus_level,
        "conversation_id": str(request.conversation_id) if request.conversation_id else None,
        "user_id": request.user_id,
        "since": say_moment(since),
        "until": say_moment(request.until) if request.until else None,
        "category": request.category,
        "min_importance": request.min_importance,
        "emotion_valence": request.emotion_valence,
        "max_tokens": request.max_tokens,
        "asked_in": str(request.asked_in) if request.asked_in else None,
        "fence": request.fence,
    }


def _to_served(place: int, recalled: Recalled) -> Found:
    """Return what a receipt records: its place among all; what links led to has no score."""
    finding = recalled.finding
    return Found(
        memory_id=recalled.memory.id,
        shelf=recalled.memory.kind,
        rank=place,
        score=finding.relevance if finding else 0.0,
        rrf=0.0,
        retrievability=1.0,
        lexical_rank=finding.lexical_rank if finding else None,
        vector_rank=finding.vector_rank if finding else None,
        lexical_found=finding.lexical_found if finding else 0,
        vector_found=finding.vector_found if finding else 0,
        lines=(),
    )


def bring_back(*, tenant: Tenant, request: Request, now: datetime) -> Reconstruction:
    """Do the same, and write nothing down."""
    focus = LEVELS[request.focus_level]
    since = request.since or now - focus.back
    findings = _search(tenant, request, since=since, at_most=focus.limit)
    found = {one.memory_id: one for one in findings.found}
    around = explore(tenant=tenant, starts=list(found)[:EXPANDED], depth=focus.depth)
    depths = around.depths | dict.fromkeys(found, 0)
    order = dict.fromkeys([*found, *around.depths])
    held = memories.load_held(tenant=tenant, memory_ids=order)
    merged = [held[memory_id] for memory_id in order if memory_id in held]
    fence = fencing.make_fence(wanted=request.fence)
    context = synthesis.synthesize(merged, max_tokens=request.max_tokens, fence=fence)
    linked = memories.neighbours(tenant=tenant, memory_ids=[one.id for one in context.held])
    return Reconstruction(
        since=since,
        total=len(merged),
        recalled=tuple(
            Recalled(
                memory=memory,
                finding=found.get(memory.id),
                distance=_distance_of(found.get(memory.id)),
                depth=depths[memory.id],
                linked_ids=tuple(linked[memory.id]),
                file_path=mirror.find_page(tenant.id, memory.id),
            )
            for memory in context.held
        ),
        context=context,
        cut=around.cut,
        embedding_model=findings.embedding_model,
        degraded=findings.degraded,
        fence=fence,
    )


def _distance_of(found: Finding | None) -> float | None:
    """Return how far a memory is from the query; one that only words found has none."""
    return None if found is None else found.distance


def explore(*, tenant: Tenant, starts: Sequence[uuid.UUID], depth: int) -> Around:
    """Follow the links of some memories in one statement; a start is none of the result.

    Of more than LINKED_AT_MOST the nearest stay, and of those that are equally near the
    newest.
    """
    if depth == 0 or not starts:
        return Around({}, cut=False)
    walk = navigation.walk_from(tenant=tenant, starts=starts, depth=depth, at_most=LINKED_AT_MOST)
    return Around({node.id: node.depth for node in walk.nodes}, cut=walk.cut)


def _search(tenant: Tenant, request: Request, *, since: datetime, at_most: int) -> finding.Findings:
    """Return what a query finds, best first."""
    return finding.find(
        tenant=tenant,
        request=finding.Request(
            query=request.query,
            conversation_id=request.conversation_id,
            user_id=request.user_id,
            category=request.category,
            min_importance=request.min_importance,
            emotion_valence=request.emotion_valence,
            since=since,
            until=request.until,
            max_results=at_most,
        ),
    )
