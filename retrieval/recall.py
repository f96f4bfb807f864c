"""The flow that answers an agent: embed the query, search once, load, write the receipt."""

from __future__ import annotations

import time
from collections.abc import Sequence
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
from retrieval import budget, lines, markdown, packing, receipts
from retrieval.budget import NO_FENCE, Fence
from retrieval.hits import (
    EpisodeHit,
    FactHit,
    Hit,
    episodes_shown,
    facts_shown,
    find_pinned,
    load_episodes,
    load_facts,
)
from retrieval.models import Retrieval
from retrieval.packing import Block
from retrieval.recent import find_recent
from retrieval.request import EPISODIC_LIMIT, RecallRequest
from retrieval.search.in_conversation import Question, embed_or_none, search
from retrieval.search.scores import DEFAULTS, SETTING, Fusion


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
    fence: Fence = NO_FENCE
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


def recall(
    *, tenant: Tenant, asked_by: APIKey | None, request: RecallRequest, now: datetime
) -> Answer:
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


def draft_answer(*, tenant: Tenant, request: RecallRequest, now: datetime) -> Draft:
    """Return what a request would be answered with; nothing is written, not even a receipt."""
    conversation = episodic_queries.find_conversation(
        tenant=tenant, external_id=request.conversation_id
    )
    fusion = choose_fusion(tenant, request)
    started = time.perf_counter()
    vector, degraded = embed_or_none(request.query) if conversation else (None, "")
    embedded = time.perf_counter()
    question = to_question(request, fusion, vector, now)
    hits = search(conversation, question) if conversation else []
    searched = time.perf_counter()
    fence = budget.make_fence(wanted=request.fence)
    if request.max_tokens is not None:  # a token at least is left
        request = replace(request, max_tokens=max(1, request.max_tokens - fence.tokens))
    chosen = Chosen(facts=[], episodes=[], text="")
    if conversation:
        conversation.tenant = tenant
        chosen = _choose(conversation, request, hits, now)
    chosen = replace(chosen, text=fence.wrap(chosen.text), fence=fence)
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
    conversation: Conversation, request: RecallRequest, hits: Sequence[Hit], now: datetime
) -> Chosen:
    recent = None
    if request.min_seq is not None:
        recent = find_recent(conversation, request.query, request.min_seq, request.max_tokens)
    facts = [hit for hit in hits if hit.shelf is MemoryKind.FACT]
    episodes = [hit for hit in hits if hit.shelf is MemoryKind.EPISODE]
    pinned = _find_pinned(conversation, request, facts)
    if request.max_tokens is None:
        return _choose_all(conversation.tenant, request, [*facts, *pinned], episodes, recent, now)
    taken = count_tokens(recent.text) + 1 if recent else 0
    loaded = load_facts(conversation.tenant, [*facts, *pinned])
    packed = lines.fill_budget(
        [hit for hit in loaded if hit.found not in pinned],
        episodes,
        pinned=[hit for hit in loaded if hit.found in pinned],
        conversation=conversation,
        request=request,
        max_tokens=request.max_tokens - taken,
        now=now,
    )
    blocks = (*packed.blocks(), *([recent] if recent else []))
    return Chosen(
        facts=packed.facts,
        episodes=lines.load_served(conversation.tenant, episodes, packed),
        text=packing.join(blocks),
        blocks=blocks,
        recent=recent,
    )


def _choose_all(
    tenant: Tenant,
    request: RecallRequest,
    fact_hits: Sequence[Hit],
    episode_hits: Sequence[Hit],
    recent: Block | None,
    now: datetime,
) -> Chosen:
    """Return all that was found: no budget limits the answer."""
    if request.is_plain:
        facts = facts_shown(fact_hits)
        shows = partial(markdown.shows_details, detail=request.detail)
        episodes = episodes_shown(tenant, episode_hits, shows=shows)
    else:
        facts = load_facts(tenant, fact_hits)
        episodes = load_episodes(tenant, episode_hits)
    text = markdown.render(facts, episodes, detail=request.detail, now=now, explain=request.explain)
    if recent is not None:
        text = "\n".join(part for part in (text, recent.text) if part)
    return Chosen(facts=facts, episodes=episodes, text=text, recent=recent)


def _find_pinned(conversation: Conversation, request: RecallRequest, hits: list[Hit]) -> list[Hit]:
    """Return what goes before any answer or into a budget unasked; nothing of the past."""
    has_place = request.kind is Retrieval.Kind.CONTEXT or request.max_tokens is not None
    if not has_place or request.category or request.as_of:
        return []
    return find_pinned(conversation, beside=hits)


def to_question(
    request: RecallRequest, fusion: Fusion, vector: Vectors | None, now: datetime
) -> Question:
    """Return what a request asks of the search."""
    only_facts = request.kind is Retrieval.Kind.CONTEXT
    question = Question(
        words=request.query,
        vector=vector,
        model=embeddings.get_embedder().name if vector is not None else "",
        shelves=(MemoryKind.FACT,) if only_facts else (MemoryKind.FACT, MemoryKind.EPISODE),
        fact_limit=request.semantic_limit,
        episode_limit=request.episodic_limit or EPISODIC_LIMIT,
        category=request.category,
        now=now,
        as_of=request.as_of,
        explain=request.explain,
        fusion=fusion,
        shown=request.is_plain,
    )
    if request.max_tokens is None:
        return question
    any_episode = request.episodic_limit is None
    return lines.widen(question, max_tokens=request.max_tokens, any_episode=any_episode)


def choose_fusion(tenant: Tenant, request: RecallRequest) -> Fusion:
    """Return the numbers for a request: its own, else the tenant's, else the defaults."""
    return DEFAULTS.changed(tenant.settings.get(SETTING)).changed(request.fusion)


def _render_request(request: RecallRequest, fusion: Fusion) -> dict[str, Any]:
    """Return every parameter as it was applied, the query aside."""
    params = asdict(request)
    del params["query"], params["kind"]
    as_of = request.as_of.isoformat() if request.as_of else None
    return params | {"as_of": as_of, "fusion": fusion.as_parameters()}
