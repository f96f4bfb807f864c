"""Answers `reconstruct_context`: memories about a query and linked ones, as one text.

Three steps: search within the hours of the focus level; follow the links of the best results; join
both, each memory once and whole.
"""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from django.conf import settings

from indexing.models import MemoryKind
from memoryproject.tenancy.models import APIKey, Tenant
from memoryproject.text import cleaning, tokens
from memoryproject.text.cleaning import DEFANGED
from retrieval import receipts
from retrieval.budget import Budget
from retrieval.hits import Hit
from retrieval.markdown import NO_FENCE, Fence, make_fence
from retrieval.memory import Memory, load_memories
from retrieval.models import Retrieval
from retrieval.search import in_tenant
from wings.navigation import finding, in_mirror, links, mirror
from wings.navigation.finding import Findings

EXPANDED = 5
"""Number of best results whose links are followed."""
TITLE = "## Retrieved Memories"
BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class Focus:
    """Width of the search: number of memories, hours to look back, links to follow."""

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
"""Focus of each level, 0 to 5."""
USUAL_LEVEL = 3


@dataclass(frozen=True, slots=True)
class ReconstructRequest(in_tenant.SearchRequest):
    """The options. Filters apply to the search, not to linked memories."""

    focus_level: int = USUAL_LEVEL
    fence: bool = False
    """Whether the text is put between marks that declare it data."""

    @property
    def focus(self) -> Focus:
        """Return the meaning of the focus level."""
        return LEVELS[self.focus_level]

    def start(self, now: datetime) -> datetime:
        """Return the start of the time searched: as requested, or by the focus level."""
        return self.since or now - self.focus.back


APPLIED = (
    "conversation_id", "user_id", "agent_id", "category", "min_importance", "emotion_valence",
    "until", "focus_level", "max_tokens", "asked_in", "fence", "links",
)  # fmt: skip
"""Fields of a request in a receipt, beside the query and the start of the time searched."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory, and how it was found.

    `distance` is None if the vector search did not find it; `depth` is the number of links from a
    search result, 0 for a result itself.
    """

    memory: Memory
    distance: float | None
    depth: int
    linked_ids: tuple[uuid.UUID, ...]
    file_path: str | None
    """Path of its page in the mirror; None: there is none."""


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """The memories: results best first, then linked ones, nearest first."""

    focus_level: int
    since: datetime | None
    total: int
    """Number of memories before the budget was applied."""
    recalled: tuple[Recalled, ...]
    """Memories in the text."""
    text: str
    tokens: int
    cut: bool = False
    """Whether links lead to further memories."""
    degraded: str = ""
    fence: Fence = NO_FENCE
    receipt: Retrieval | None = None
    """None: nothing was stored."""
    counter: str = field(default_factory=lambda: tokens.in_use().name)
    """Counter by which tokens were counted."""


def reconstruct(
    *, tenant: Tenant, asked_by: APIKey | None, request: ReconstructRequest, now: datetime
) -> Reconstruction:
    """Return memories about a query as a text for a language model, with a receipt.

    All are active: no deleted notes, and no retired facts.
    """
    started = time.monotonic()
    answer, findings = bring_back(tenant=tenant, request=request, now=now)
    by_id: dict[uuid.UUID, Hit] = {finding.memory_id: finding for finding in findings.best}
    receipt = Retrieval(
        tenant=tenant,
        asked_by=asked_by,
        kind=Retrieval.Kind.RECONSTRUCT,
        query=request.query,
        parameters={name: getattr(request, name) for name in APPLIED} | {"since": answer.since},
        conversation=finding.find_audience(tenant, request),
        embedding_model=findings.embedding_model,
        degraded=findings.degraded,
        tokens=answer.tokens,
    )
    hits = [
        # Memories reached by links have no score.
        replace(by_id.get(memory.id, Hit(memory.id, memory.kind, 0, 0.0)), rank=place)
        for place, memory in enumerate([item.memory for item in answer.recalled], start=1)
    ]
    receipts.write_receipt(receipt, hits=hits, started=started)
    return replace(answer, receipt=receipt)


def bring_back(
    *, tenant: Tenant, request: ReconstructRequest, now: datetime
) -> tuple[Reconstruction, Findings]:
    """As `reconstruct`, without a receipt; also return the search results."""
    request = replace(request, since=request.start(now), max_results=request.focus.limit)
    findings = finding.find(tenant=tenant, request=request)
    by_id = {finding.memory_id: finding for finding in findings.best}
    around = links.walk_from(
        tenant=tenant,
        starts=list(by_id)[:EXPANDED],
        depth=request.focus.depth,
        at_most=settings.RECONSTRUCTION_LINKS_AT_MOST,
    )
    depths = {node.id: node.depth for node in around.nodes} | dict.fromkeys(by_id, 0)
    order = dict.fromkeys([*by_id, *depths])
    active = load_memories(tenant=tenant, memory_ids=order, active_only=True, style=request.links)
    answer = compose(
        request,
        [active[memory_id] for memory_id in order if memory_id in active],
        depths=depths,
        distances={memory_id: finding.distance for memory_id, finding in by_id.items()},
        linked=lambda ids: links.neighbours(tenant=tenant, memory_ids=ids),
        tenant=tenant,
    )
    return replace(answer, cut=around.cut, degraded=findings.degraded), findings


def reconstruct_from_mirror(
    *, tenant: Tenant, request: ReconstructRequest, now: datetime
) -> Reconstruction:
    """As `reconstruct`, from the mirror while the database is away; no receipt.

    Links are followed only in their direction; derived ones are not in the mirror.
    """
    request = replace(request, since=request.start(now))
    matches, cut = in_mirror.search_pages(tenant_id=tenant.id, request=request)
    best = matches[: request.focus.limit]
    pages = {match.memory.id: match.memory for match in best}
    depths = dict.fromkeys(pages, 0) | in_mirror.follow_links(
        tenant.id,
        pages,
        starts=EXPANDED,
        depth=request.focus.depth,
        at_most=settings.RECONSTRUCTION_LINKS_AT_MOST,
    )
    answer = compose(
        request,
        [pages[memory_id] for memory_id in depths],
        depths=depths,
        distances={match.memory.id: 1 - match.share for match in best},
        linked=lambda ids: {
            memory_id: list(dict.fromkeys(other for _, other in pages[memory_id].links))
            for memory_id in ids
        },
        tenant=tenant,
    )
    return replace(answer, cut=cut, degraded=in_mirror.DEGRADED)


def compose(
    request: ReconstructRequest,
    memories: Sequence[Memory],
    *,
    depths: Mapping[uuid.UUID, int],
    distances: Mapping[uuid.UUID, float | None],
    linked: Callable[[list[uuid.UUID]], Mapping[uuid.UUID, Sequence[uuid.UUID]]],
    tenant: Tenant,
) -> Reconstruction:
    """Return the answer from memories in order; `linked` is only called for memories that fit."""
    fence = make_fence(wanted=request.fence)
    text, shown = synthesize(
        memories, max_tokens=request.max_tokens, fence=fence, style=request.links
    )
    linked_ids = linked([memory.id for memory in shown])
    recalled = tuple(
        Recalled(
            memory=memory,
            distance=distances.get(memory.id),
            depth=depths[memory.id],
            linked_ids=tuple(linked_ids[memory.id]),
            file_path=mirror.find_page(tenant.id, memory.id),
        )
        for memory in shown
    )
    return Reconstruction(
        focus_level=request.focus_level,
        since=request.since,
        total=len(memories),
        recalled=recalled,
        text=text,
        tokens=tokens.count_tokens(text),
        fence=fence,
    )


def synthesize(
    memories: Sequence[Memory], *, max_tokens: int | None, fence: Fence, style: str = DEFANGED
) -> tuple[str, list[Memory]]:
    """Return the memories as markdown, in order, numbered from 1, and which ones fit.

    With `max_tokens` a memory that does not fit is left out whole, and shorter ones after it may
    still fit. With `fence` the text is between marks, which count.
    """
    parts = [TITLE]
    chosen: list[Memory] = []
    room = None
    if max_tokens is not None:
        room = 4 * (max_tokens - fence.tokens) - tokens.count_quarters(TITLE)
    quarters = Budget(room)
    for memory in memories:
        entry = _write(memory, style, number=len(chosen) + 1)
        size = 0 if room is None else tokens.count_quarters(entry) + tokens.count_quarters(BETWEEN)
        if quarters.take(size):
            parts.append(entry)
            chosen.append(memory)
    return fence.wrap_text(BETWEEN.join(parts) if chosen else ""), chosen


def _write(memory: Memory, style: str, *, number: int) -> str:
    """Return one entry. Its content is indented, so that it cannot look like another entry."""
    start = f"{number}. "
    content = cleaning.clean_block((memory.marked or memory.content).strip(), style)
    lines = [line.rstrip() for line in content.splitlines()]
    indented = [f"{' ' * len(start)}{line}" if line else "" for line in lines]
    return "\n".join([start + _describe(memory, style), *indented])


def _describe(memory: Memory, style: str) -> str:
    """Return the line above a content: kind, time, subject and feeling of the memory."""
    feeling = [memory.emotion_type, memory.emotion_valence]
    parts = [
        memory.kind.value,
        f"{memory.at.astimezone(UTC):%Y-%m-%d %H:%M}",
        "" if memory.kind is MemoryKind.EPISODE else memory.category,
        f"importance {memory.importance:.2f}",
        " ".join(part for part in feeling if part),
        f"user {memory.user_id}" if memory.user_id else "",
    ]
    lines = (" ".join(part.split()) for part in parts if part)
    text = ", ".join(cleaning.clean_line(line, style) for line in lines)
    return f"[{memory.id}] {text}"
