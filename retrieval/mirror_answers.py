"""Answering from the mirror while the database is away: less well, and saying so."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

from indexing.models import MemoryKind
from memoryproject.tenancy.models import Tenant
from retrieval import fencing, mirror, synthesis
from retrieval.memories import Whole
from retrieval.mirror_page import Page
from retrieval.mirror_search import Wanted, load_page, search_pages
from retrieval.reconstruction import (
    EXPANDED,
    LEVELS,
    LINKED_AT_MOST,
    Recalled,
    Reconstruction,
    Request,
)

DEGRADED = "mirror"


def reconstruct(*, tenant: Tenant, request: Request, now: datetime) -> Reconstruction:
    """Bring back what can be read in the tenant's pages, without the database.

    Links are followed as they were drawn, not backwards; what the server derives is in no
    page.
    """
    focus = LEVELS[request.focus_level]
    since = request.since or now - focus.back
    wanted = _narrow(request, since=since)
    matches = search_pages(
        tenant_id=tenant.id, query=request.query, wanted=wanted, at_most=focus.limit
    )
    pages = {match.page.id: match.page for match in matches.found}
    distances = {match.page.id: 1 - match.share for match in matches.found}
    depths = dict.fromkeys(pages, 0) | _explore(tenant.id, pages, depth=focus.depth)
    merged = [_to_whole(pages[memory_id]) for memory_id in depths]
    fence = fencing.make_fence(wanted=request.fence)
    context = synthesis.synthesize(merged, max_tokens=request.max_tokens, fence=fence)
    return Reconstruction(
        since=since,
        total=len(merged),
        recalled=tuple(
            Recalled(
                memory=memory,
                finding=None,
                distance=distances.get(memory.id),
                depth=depths[memory.id],
                linked_ids=tuple(dict.fromkeys(other for _, other in pages[memory.id].links)),
                file_path=mirror.find_page(tenant.id, memory.id),
            )
            for memory in context.held
        ),
        context=context,
        cut=matches.cut,
        degraded=DEGRADED,
        fence=fence,
    )


def _narrow(request: Request, *, since: datetime) -> Wanted:
    """Return the pages among which to search."""
    return Wanted(
        conversation=request.conversation_id,
        user_id=request.user_id,
        since=since,
        until=request.until,
        category=request.category,
        min_importance=request.min_importance,
        emotion_valence=request.emotion_valence,
    )


def _explore(
    tenant_id: uuid.UUID, pages: dict[uuid.UUID, Page], *, depth: int
) -> dict[uuid.UUID, int]:
    """Load into `pages` what links of the best lead to; return how far each is, nearest first."""
    depths: dict[uuid.UUID, int] = {}
    level: Sequence[Page] = list(pages.values())[:EXPANDED]
    for distance in range(1, depth + 1):
        targets = dict.fromkeys(target for page in level for _, target in page.links)
        level = []
        for target in targets:
            page = load_page(tenant_id, target) if target not in pages else None
            if page is not None and len(depths) < LINKED_AT_MOST:
                pages[target] = page
                depths[target] = distance
                level.append(page)
    return depths


def _to_whole(page: Page) -> Whole:
    return Whole(
        id=page.id,
        kind=MemoryKind(page.kind),
        source_type=page.source_type,
        source_id=page.source_id,
        label=page.label,
        content=page.content,
        importance=page.importance,
        at=page.at,
        created_at=page.created_at,
        user_id=page.user_id,
        category=page.category,
        emotion_type=page.emotion_type,
        emotion_intensity=page.emotion_intensity,
        emotion_valence=page.emotion_valence,
        tags=page.tags,
    )
