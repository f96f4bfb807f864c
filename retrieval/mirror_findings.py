"""Answering a search from the mirror while the database is away: by words alone, no links."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from indexing.models import MemoryKind
from memoryproject import tokens
from memoryproject.tenancy.models import Tenant
from retrieval import mirror_search, searching
from retrieval.contents import Content
from retrieval.finding import Finding, Findings, Request
from retrieval.mirror_page import Page
from retrieval.mirror_search import Match, Wanted
from retrieval.relevance import combine
from retrieval.searching import Result

DEGRADED = "mirror"
ORDERS: dict[str, Callable[[Finding], tuple[Any, ...]]] = {
    "relevance": lambda one: (one.relevance, one.combined, one.at, one.memory_id),
    "recency": lambda one: (one.at, one.memory_id),
    "importance": lambda one: (one.importance, one.combined, one.at, one.memory_id),
    "combined": lambda one: (one.combined, one.at, one.memory_id),
}


def search(*, tenant: Tenant, request: Request, max_tokens: int | None = None) -> Result:
    """Answer a search from the tenant's pages, in the order asked for; leaves no receipt.

    Relevance is the share of the query's words that a page holds. No link is followed.
    """
    types = None if request.source_types is None else frozenset(request.source_types)
    matches = mirror_search.search_pages(
        tenant_id=tenant.id,
        query=request.query,
        wanted=Wanted(
            conversation=request.conversation_id,
            user_id=request.user_id,
            since=request.since,
            until=request.until,
            category=request.category,
            min_importance=request.min_importance,
            emotion_valence=request.emotion_valence,
            source_types=types,
            source_ids=None if request.source_ids is None else frozenset(request.source_ids),
        ),
    )
    passing = [match for match in matches.found if match.share >= request.min_relevance]
    findings = sorted(map(_to_finding, passing), key=ORDERS[request.sort_by], reverse=True)
    return _to_result(
        request, max_tokens, findings, {match.page.id: match.page for match in passing}
    )


def _to_result(
    request: Request,
    max_tokens: int | None,
    findings: Sequence[Finding],
    pages: dict[uuid.UUID, Page],
) -> Result:
    best = findings[: request.max_results]
    contents = {one.memory_id: _to_content(pages[one.memory_id]) for one in best}
    items, used = searching.fit(best, contents, max_tokens)
    return Result(
        items=items,
        findings=Findings(found=tuple(best), total=len(findings), degraded=DEGRADED),
        tokens_used=used,
        counter=tokens.in_use().name,
        applied=searching.say_request(request, max_tokens),
        receipt=None,
    )


def _to_finding(match: Match) -> Finding:
    page = match.page
    return Finding(
        memory_id=page.id,
        kind=MemoryKind(page.kind),
        source_type=page.source_type,
        relevance=match.share,
        importance=page.importance,
        combined=combine(relevance=match.share, importance=page.importance),
        at=page.at,
        lexical_rank=None,
        vector_rank=None,
        lexical_found=0,
        vector_found=0,
        distance=None,
    )


def _to_content(page: Page) -> Content:
    return Content(
        memory_id=page.id,
        kind=MemoryKind(page.kind),
        source_type=page.source_type,
        source_id=page.source_id,
        label=page.label,
        description=_summary_of(page),
        metadata={},
        text=page.content,
    )


def _summary_of(page: Page) -> str:
    """Return the summary of an episode: its second line; other kinds have none."""
    return page.content.split("\n", 2)[1] if page.kind == MemoryKind.EPISODE else ""
