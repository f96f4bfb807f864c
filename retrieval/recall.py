"""The flow that answers an agent: embed the query, search once, load, write the receipt."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from episodic import queries as episodic_queries
from episodic.models import Conversation
from episodic.queries import Progress
from indexing.models import MemoryKind
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Vectors
from memoryproject.tenancy.models import APIKey, Tenant
from memoryproject.text.tokens import count_tokens
from retrieval import budget, lines, markdown, packing, receipts, recent
from retrieval.budget import Fence
from retrieval.hits import (
    EpisodeHit,
    FactHit,
    Hit,
    episodes_shown,
    facts_shown,
    load_episodes,
    load_facts,
)
from retrieval.models import Retrieval
from retrieval.packing import Block
from retrieval.pinned import find_pinned
from retrieval.search.in_conversation import Question, embed_or_none, search
from retrieval.search.scores import DEFAULTS, SETTING, Fusion

EPISODIC_LIMIT = 5
SEMANTIC_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Request:
    """What an agent asks. `conversation_id` is the agent's own.

    `episodic_limit` None: five episodes, or with `max_tokens` as many as the budget holds.
    """

    query: str
    conversation_id: uuid.UUID
    kind: Retrieval.Kind
    episodic_limit: int | None = None
    semantic_limit: int = SEMANTIC_LIMIT
    detail: str = "auto"
    category: str | None = None
    max_tokens: int | None = None
    as_of: datetime | None = None
    explain: bool = False
    min_seq: int | None = None
    fusion: Mapping[str, Any] | None = None
    """Numbers to use instead of the tenant's, by their names in `Fusion`."""
    fence: bool = False
    """Whether the text stands between marks that say it is data."""

    @property
    def is_plain(self) -> bool:
        """Whether the answer is the specification's markdown, which shows few messages."""
        return self.max_tokens is None and self.kind is not Retrieval.Kind.RETRIEVE_RAW


@dataclass(frozen=True, slots=True)
class Chosen:
    """What an answer serves, each kind best first, and how it reads."""

    facts: list[FactHit]
    episodes: list[EpisodeHit]
    text: str
    blocks: tuple[Block, ...] | None = None
    """The parts of the text, with `max_tokens` only."""
    recent: Block | None = None
    """Messages in no episode yet, oldest first; with `min_seq` only."""
    fence: Fence | None = None
    """The marks between which the text stands."""

    @property
    def hits(self) -> list[FactHit | EpisodeHit]:
        """Everything served, facts first, each kind best first."""
        return [*self.facts, *self.episodes]


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that an endpoint renders; `degraded` names what was missing."""

    chosen: Chosen
    progress: Progress
    degraded: str
    receipt: Retrieval


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer that nobody has been given yet, and how long its two costly steps took."""

    chosen: Chosen
    conversation: Conversation | None
    fusion: Fusion
    vector: Vectors | None
    degraded: str
    tokens: int
    embedding_s: float
    search_s: float

    @property
    def served(self) -> list[Hit]:
        """What it would serve, facts first, each kind best first."""
        return [hit.found for hit in self.chosen.hits]


def recall(*, tenant: Tenant, asked_by: APIKey | None, request: Request, now: datetime) -> Answer:
    """Answer a request and write its receipt. Calls no language model.

    An unknown conversation gets an empty answer, and is not made. When the query
    cannot be embedded the words alone are searched and the answer says so.
    """
    started = time.monotonic()
    draft = draft_answer(tenant=tenant, request=request, now=now)
    receipt = receipts.write_receipt(
        tenant=tenant,
        asked_by=asked_by,
        kind=request.kind,
        query=request.query,
        parameters=_render_request(request, draft.fusion),
        conversation=draft.conversation,
        hits=draft.served,
        embedding_model="" if draft.vector is None else embeddings.get_embedder().name,
        degraded=draft.degraded,
        tokens=draft.tokens,
        started=started,
    )
    progress = episodic_queries.measure_progress(draft.conversation)
    return Answer(draft.chosen, progress, draft.degraded, receipt)


def draft_answer(*, tenant: Tenant, request: Request, now: datetime) -> Draft:
    """Return what a request would be answered with; nothing is written, not even a receipt."""
    conversation = episodic_queries.find_conversation(
        tenant=tenant, external_id=request.conversation_id
    )
    fusion = choose_fusion(tenant, request)
    started = time.perf_counter()
    vector, degraded = embed_or_none(request.query) if conversation else (None, "")
    embedded = time.perf_counter()
    question = to_question(request, fusion, vector, now)
    found = search(conversation, question) if conversation else []
    searched = time.perf_counter()
    fence = budget.make_fence(wanted=request.fence)
    if fence and request.max_tokens is not None:  # a token at least is left
        room = max(1, budget.room_in(request.max_tokens, fence))
        request = replace(request, max_tokens=room)
    chosen = _choose(tenant, conversation, request, found, now)
    chosen = replace(chosen, text=budget.wrap(chosen.text, fence), fence=fence)
    return Draft(
        chosen=chosen,
        conversation=conversation,
        fusion=fusion,
        vector=vector,
        degraded=degraded,
        tokens=count_tokens(chosen.text),
        embedding_s=embedded - started,
        search_s=searched - embedded,
    )


def _choose(
    tenant: Tenant,
    conversation: Conversation | None,
    request: Request,
    found: list[Hit],
    now: datetime,
) -> Chosen:
    recent = _find_recent(conversation, request)
    in_facts = [hit for hit in found if hit.shelf is MemoryKind.FACT]
    pinned = _find_pinned(conversation, request, in_facts)
    in_episodes = [hit for hit in found if hit.shelf is MemoryKind.EPISODE]
    if request.max_tokens is None or conversation is None:
        if request.is_plain:
            facts = facts_shown([*in_facts, *pinned])
            shows = partial(markdown.shows_details, detail=request.detail)
            episodes = episodes_shown(tenant, in_episodes, shows=shows)
        else:
            facts = load_facts(tenant, in_facts)
            episodes = load_episodes(tenant, in_episodes)
        text = markdown.render(
            facts, episodes, detail=request.detail, now=now, explain=request.explain
        )
        if recent is not None:
            text = "\n".join(part for part in (text, recent.text) if part)
        return Chosen(facts=facts, episodes=episodes, text=text, recent=recent)
    spent = count_tokens(recent.text) + 1 if recent else 0
    loaded = load_facts(tenant, [*in_facts, *pinned])
    packed = lines.fill_budget(
        [hit for hit in loaded if hit.found not in pinned],
        in_episodes,
        pinned=[hit for hit in loaded if hit.found in pinned],
        tenant=tenant,
        conversation=conversation,
        query=request.query,
        at=request.as_of or now,
        is_past=request.as_of is not None,
        semantic_limit=request.semantic_limit,
        max_tokens=request.max_tokens - spent,
        wants_facts=request.category is not None,
        explain=request.explain,
    )
    blocks = (*packed.blocks(), *([recent] if recent else []))
    return Chosen(
        facts=packed.facts,
        episodes=lines.load_served(tenant, in_episodes, packed),
        text=packing.join(blocks),
        blocks=blocks,
        recent=recent,
    )


def _find_pinned(
    conversation: Conversation | None, request: Request, found: list[Hit]
) -> list[Hit]:
    """Return what goes before any answer or into a budget unasked; nothing of the past."""
    wanted = request.kind is Retrieval.Kind.CONTEXT or request.max_tokens is not None
    if conversation is None or not wanted or request.category or request.as_of:
        return []
    return find_pinned(conversation, beside=found)


def _find_recent(conversation: Conversation | None, request: Request) -> Block | None:
    if conversation is None or request.min_seq is None:
        return None
    messages = recent.find_recent(
        conversation=conversation, query=request.query, min_seq=request.min_seq
    )
    return recent.to_block(messages, max_tokens=request.max_tokens)


def to_question(
    request: Request, fusion: Fusion, vector: Vectors | None, now: datetime
) -> Question:
    """Return what a request asks of the search."""
    only_facts = request.kind is Retrieval.Kind.CONTEXT
    shelves = (MemoryKind.FACT,) if only_facts else (MemoryKind.FACT, MemoryKind.EPISODE)
    asked = Question(
        words=request.query,
        vector=vector,
        model=embeddings.get_embedder().name if vector is not None else "",
        shelves=shelves,
        fact_limit=request.semantic_limit,
        episode_limit=request.episodic_limit or EPISODIC_LIMIT,
        category=request.category,
        now=now,
        as_of=request.as_of,
        explain=request.explain,
        fusion=fusion,
        shown=request.is_plain,
    )
    if request.max_tokens is not None:
        asked = lines.widen(
            asked, max_tokens=request.max_tokens, any_episode=request.episodic_limit is None
        )
    return asked


def choose_fusion(tenant: Tenant, request: Request) -> Fusion:
    """Return the numbers for a request: its own, else the tenant's, else the defaults."""
    return DEFAULTS.changed(tenant.settings.get(SETTING)).changed(request.fusion)


def _render_request(request: Request, fusion: Fusion) -> dict[str, Any]:
    """Return every parameter as it was applied, the query aside."""
    params = asdict(request)
    del params["query"], params["kind"]
    as_of = request.as_of.isoformat() if request.as_of else None
    return params | {"as_of": as_of, "fusion": fusion.as_parameters()}
