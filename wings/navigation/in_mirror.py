"""Searches the mirror's pages, while the database is unavailable.

By words only, without index or vectors. The newest pages are read one by one, for a limited time.
Links are followed only in their direction.
"""

import math
import re
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from indexing import text
from indexing.models import MemoryKind
from memoryproject.tenancy.models import Tenant
from retrieval.hits import Finding
from retrieval.memory import Memory
from retrieval.search.in_tenant import SearchRequest
from retrieval.search.scores import NEUTRAL, combine
from wings.navigation import mirror
from wings.navigation.finding import Findings
from wings.navigation.mirror.page import UnreadablePage, read_page

DEGRADED = "mirror"
ORDERS: dict[str, Callable[[Finding], tuple[Any, ...]]] = {
    "relevance": lambda item: (item.score, item.combined, item.at, item.memory_id),
    "recency": lambda item: (item.at, item.memory_id),
    "importance": lambda item: (item.importance, item.combined, item.at, item.memory_id),
    "combined": lambda item: (item.combined, item.at, item.memory_id),
}
PAGES_AT_MOST = 20_000
SECONDS_AT_MOST = 2.0
AHEAD = timedelta(hours=24)
"""Time by which a memory may be dated after its creation."""
WORD = re.compile(r"\w+")
LONG = 4
"""Letters from which on a word is also found inside longer ones, in place of stems."""


@dataclass(frozen=True, slots=True)
class Match:
    """A memory with words of the query. `share` of their weight, above 0 to 1."""

    memory: Memory
    share: float


def find(*, tenant: Tenant, request: SearchRequest) -> tuple[Findings, dict[uuid.UUID, Memory]]:
    """Return what a request finds in the tenant's pages, in its order, and those memories.

    Relevance is the share of the query's words in a page. No link is followed.
    """
    matches, _ = search_pages(tenant_id=tenant.id, request=request)
    passing = [match for match in matches if match.share >= request.min_relevance]
    ordered = sorted(map(_to_finding, passing), key=ORDERS[request.sort_by], reverse=True)
    best = tuple(ordered[: request.max_results])
    findings = Findings(best=best, total=len(ordered), degraded=DEGRADED)
    return findings, {match.memory.id: match.memory for match in passing}


def _to_finding(match: Match) -> Finding:
    memory = match.memory
    return Finding(
        memory_id=memory.id,
        shelf=memory.kind,
        rank=0,
        score=match.share,
        source_type=memory.source_type,
        importance=memory.importance,
        combined=combine(relevance=match.share, importance=memory.importance),
        at=memory.at,
    )


def follow_links(
    tenant_id: uuid.UUID, pages: dict[uuid.UUID, Memory], *, starts: int, depth: int, at_most: int
) -> dict[uuid.UUID, int]:
    """Load into `pages` the memories linked from the first ones.

    Return the distance of each, nearest first.
    """
    depths: dict[uuid.UUID, int] = {}
    level: Sequence[Memory] = list(pages.values())[:starts]
    for distance in range(1, depth + 1):
        targets = dict.fromkeys(target for page in level for _, target in page.links)
        level = []
        for target in targets:
            page = load_page(tenant_id, target) if target not in pages else None
            if page is not None and len(depths) < at_most:
                pages[target] = page
                depths[target] = distance
                level.append(page)
    return depths


def search_pages(
    *,
    tenant_id: uuid.UUID,
    request: SearchRequest,
    clock: Callable[[], float] = time.monotonic,
    pages_at_most: int = PAGES_AT_MOST,
) -> tuple[list[Match], bool]:
    """Return a tenant's pages with the most of a request's words, best first.

    Ties are newest first. Also return whether older pages were left unread. A word counts the more,
    the fewer pages have it. For `*` each page scores one half.
    """
    words = frozenset(WORD.findall(text.prepare(request.query)))
    until = clock() + SECONDS_AT_MOST
    holding: list[tuple[Memory, frozenset[str]]] = []
    read, cut = 0, False
    for read, page in enumerate(_pages(tenant_id, request), start=1):
        if read > pages_at_most or clock() > until:
            cut = True
            break
        if page is None or not _passes(page, request):
            continue
        matching = _words_held(words, text.prepare(page.content))
        if matching or request.is_everything:
            holding.append((page, matching))
    return _rank(holding, words, read=read), cut


def _passes(memory: Memory, request: SearchRequest) -> bool:
    """Return whether a memory matches all filters of a request."""
    return (
        request.conversation_id in (None, memory.conversation)
        and request.user_id in (None, memory.user_id)
        and request.agent_id is None  # not in the pages
        and (request.since is None or memory.at >= request.since)
        and (request.until is None or memory.at <= request.until)
        and request.category in (None, memory.category)
        and (request.min_importance is None or memory.importance >= request.min_importance)
        and request.emotion_valence in (None, memory.emotion_valence)
        and (request.tag is None or (memory.kind is MemoryKind.NOTE and request.tag in memory.tags))
        and (request.source_types is None or memory.source_type in request.source_types)
        and (request.source_ids is None or memory.source_id in request.source_ids)
    )


def _words_held(words: frozenset[str], content: str) -> frozenset[str]:
    """Return the words in a text: long ones also inside other words, short ones not."""
    whole = frozenset(WORD.findall(content))
    return frozenset(
        word for word in words if word in whole or (len(word) >= LONG and word in content)
    )


def _pages(tenant_id: uuid.UUID, request: SearchRequest) -> Iterator[Memory | None]:
    """Yield the pages, newest first; None for one that cannot be read."""
    for memory_id, _ in mirror.pages_of(tenant_id):
        if request.since is not None and mirror.made_at(memory_id) < request.since - AHEAD:
            return
        yield load_page(tenant_id, memory_id)


def load_page(tenant_id: uuid.UUID, memory_id: uuid.UUID) -> Memory | None:
    """Return a tenant's page of a memory; None: there is none, or it cannot be read."""
    content = mirror.read_text(tenant_id, memory_id)
    try:
        page = read_page(content) if content is not None else None
    except UnreadablePage:
        return None
    return page if page is not None and page.id == memory_id else None


def _rank(
    holding: list[tuple[Memory, frozenset[str]]], words: frozenset[str], *, read: int
) -> list[Match]:
    counts = Counter(word for _, matching in holding for word in matching)
    weights = {word: math.log(1 + (read + 1) / (counts[word] + 0.5)) for word in words}
    whole = sum(weights.values())
    matches = [
        Match(page, share=sum(weights[word] for word in matching) / whole if matching else NEUTRAL)
        for page, matching in holding
    ]
    matches.sort(key=lambda match: (match.share, match.memory.at, match.memory.id), reverse=True)
    return matches
