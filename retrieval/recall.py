"""The flow that answers an agent: embed the query, search once, load, write the receipt."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from django.db import IntegrityError

from episodic import queries as episodic_queries
from episodic.models import Conversation, Episode, Message
from episodic.queries import Progress
from indexing.models import MemoryKind
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Vectors
from memoryproject.edge import replicas
from memoryproject.process import metrics, traces
from memoryproject.tenancy import reading
from memoryproject.tenancy.models import APIKey, Tenant
from memoryproject.text.cleaning import print_links
from memoryproject.text.tokens import count_tokens
from retrieval import budget, lines, markdown, packing, receipts, replay
from retrieval.budget import NO_FENCE, Fence
from retrieval.candidates import load_candidates
from retrieval.hits import EpisodeHit, FactHit, Hit, episodes_shown, facts_shown
from retrieval.models import Retrieval
from retrieval.packing import Block
from retrieval.recent import find_recent
from retrieval.request import CONVERSATION, EPISODIC_LIMIT, USER, RecallRequest
from retrieval.search import in_scope
from retrieval.search.in_conversation import Question, embed_or_none, put_newer_first, search
from retrieval.search.scores import (
    DEFAULTS,
    SETTING,
    Fusion,
    estimate_relevance,
    likeness_of,
)
from semantic import beliefs
from semantic.correction_marks import find_corrections, set_corrected, set_corrections
from semantic.models import Fact


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
    cut: tuple[uuid.UUID, ...] = ()
    """Messages of which the text shows a part, by id."""

    def take_apart(self, *, is_shared: bool) -> list[replay.Part] | None:
        """Return what the text is made of, for its receipt."""
        return replay.take_apart(
            self.text,
            facts=self.facts,
            episodes=self.episodes,
            blocks=self.blocks,
            recent=self.recent,
            is_shared=is_shared,
        )

    @property
    def hits(self) -> list[FactHit | EpisodeHit]:
        """Everything served, facts first, each kind best first."""
        return [*self.facts, *self.episodes]

    @property
    def corrections(self) -> dict[uuid.UUID, str]:
        """What is said of the facts, episodes and messages that contradict a correction, by id."""
        rows: list[Fact | Episode | Message] = [hit.fact for hit in self.facts]
        rows += [hit.episode for hit in self.episodes]
        rows += [row for hit in self.hits for row in hit.messages]
        rows += self.recent.messages if self.recent else ()
        return {row.pk: row.correction for row in rows if row.correction}

    @property
    def unmarked_lines(self) -> list[str]:
        """The lines of the text but those that carry the mark of a correction."""
        marks = tuple(f"[{text}]" for text in self.corrections.values())
        headings = r"### .*corrected\]"
        return [
            line
            for line in self.text.splitlines()
            if not (marks and (line.endswith(marks) or re.fullmatch(headings, line)))
        ]


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that an endpoint renders; `degraded` names what was missing."""

    chosen: Chosen
    progress: Progress
    degraded: str
    receipt: Retrieval
    is_left_out: bool


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
    relevance: float | None
    """How likely it is that what was found holds what was asked for; None: not known."""
    is_left_out: bool
    """Whether that is less than the request wants, so that nothing found is served."""

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
    try:
        return _recall(tenant, asked_by, request, now)
    except IntegrityError:  # what a replica still had is erased: no receipt can name it
        with replicas.on_primary():
            return _recall(tenant, asked_by, request, now)


def _recall(
    tenant: Tenant, asked_by: APIKey | None, request: RecallRequest, now: datetime
) -> Answer:
    started = time.monotonic()
    draft, progress = reading.read(
        lambda: _draft_with_progress(tenant, request, now),
        tenant=tenant,
        key=asked_by,
        fresh=request.min_seq is not None,
    )
    with print_links(request.links):
        parts = draft.chosen.take_apart(is_shared=request.scope != CONVERSATION)
    drafted = time.monotonic()
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
        relevance=draft.relevance,
        parts=parts,
        signature="" if parts is None else replay.sign(draft.chosen.text),
    )
    stages = {
        "embed": draft.embedding_s,
        "search": draft.search_s,
        "compose": drafted - started - draft.embedding_s - draft.search_s,
        "receipt": time.monotonic() - drafted,
    }
    for stage, seconds in stages.items():
        metrics.stage_seconds.labels(stage).observe(seconds)
    named = {
        traces.CONVERSATION: str(request.conversation_id),
        traces.RECORDS: len(draft.served),
    }
    traces.describe(named)
    return Answer(draft.chosen, progress, draft.degraded, receipt, draft.is_left_out)


def _draft_with_progress(
    tenant: Tenant, request: RecallRequest, now: datetime
) -> tuple[Draft, Progress]:
    """Return a draft, and how far its conversation was processed where that was read."""
    draft = draft_answer(tenant=tenant, request=request, now=now)
    return draft, episodic_queries.measure_progress(draft.conversation)


def draft_answer(*, tenant: Tenant, request: RecallRequest, now: datetime) -> Draft:
    """Return what a request would be answered with; nothing is written, not even a receipt."""
    with print_links(request.links):
        return _draft(tenant, request, now)


def _draft(tenant: Tenant, request: RecallRequest, now: datetime) -> Draft:
    conversation = episodic_queries.find_conversation(
        tenant=tenant, external_id=request.conversation_id
    )
    fusion = choose_fusion(tenant, request)
    started = time.perf_counter()
    is_empty = conversation is None and request.scope == CONVERSATION
    vector, degraded = (None, "") if is_empty else embed_or_none(request.query)
    embedded = time.perf_counter()
    question = to_question(request, fusion, vector, now)
    place = conversation
    if request.scope != CONVERSATION:  # a conversation that is not there yet has what others share
        place = conversation or Conversation(tenant=tenant, external_id=request.conversation_id)
    if conversation and request.known_at:
        conversation.tenant = tenant
        known = find_known(conversation, request.known_at, request.as_of)
        question = replace(question, known=known)
    hits = _search(place, request, question) if place else []
    searched = time.perf_counter()
    fence = budget.make_fence(wanted=request.fence)
    if request.max_tokens is not None:  # a token at least is left
        request = replace(request, max_tokens=max(1, request.max_tokens - fence.tokens))
    relevance = _estimate_relevance(request, hits, degraded)
    is_left_out = relevance is not None and relevance < request.min_relevance
    chosen = Chosen(facts=[], episodes=[], text="")
    if place:
        place.tenant = tenant
        chosen = _choose(place, request, hits, now, is_left_out=is_left_out)
        if request.scope != CONVERSATION:
            _name_homes(place, chosen)
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
        relevance=relevance,
        is_left_out=is_left_out,
    )


def _search(conversation: Conversation, request: RecallRequest, question: Question) -> list[Hit]:
    """Search where the request says.

    A budget is filled with the messages of one conversation: what comes from others are facts.
    """
    user_id = request.user_id or conversation.user_id
    if request.scope == CONVERSATION or (request.scope == USER and not user_id):
        return search(conversation, question)
    shared = in_scope.search(
        tenant=conversation.tenant,
        question=question,
        user_id=user_id if request.scope == USER else None,
    )
    if request.max_tokens is None:
        return shared
    facts = [hit for hit in shared if hit.shelf is MemoryKind.FACT]
    own = search(conversation, replace(question, shelves=(MemoryKind.EPISODE,)))
    return [*facts, *own]


def _name_homes(place: Conversation, chosen: Chosen) -> None:
    """Load the conversation of each memory that is served from any; what is gone has `place`."""
    ids = [hit.found.memory_id for hit in chosen.hits]
    homes = {
        row.id: row.conversation
        for table in (Fact, Episode)
        for row in table.objects.of(place.tenant).filter(id__in=ids).select_related("conversation")
    }
    for fact in chosen.facts:
        fact.fact.conversation = homes.get(fact.found.memory_id, place)
    for episode in chosen.episodes:
        episode.episode.conversation = homes.get(episode.found.memory_id, place)


def _choose(
    conversation: Conversation,
    request: RecallRequest,
    hits: Sequence[Hit],
    now: datetime,
    *,
    is_left_out: bool = False,
) -> Chosen:
    recent = None
    if request.min_seq is not None:
        recent = find_recent(
            conversation,
            request.query,
            request.min_seq,
            request.max_tokens,
            whole=request.whole,
        )
    if is_left_out:
        return _choose_recent(recent, is_packed=request.max_tokens is not None)
    facts = [hit for hit in hits if hit.shelf is MemoryKind.FACT]
    if conversation.has_corrections and request.known_at is None:
        facts = _put_corrections_first(conversation.tenant, facts, as_of=request.as_of)
    episodes = [hit for hit in hits if hit.shelf is MemoryKind.EPISODE]
    if request.max_tokens is None:
        return _choose_all(conversation, request, facts, episodes, recent, now)
    quoted = [hit for hit in episodes if hit.lines]
    candidates = load_candidates(
        conversation,
        facts,
        quoted,
        with_pinned=_wants_pinned(request),
        with_retired=request.as_of is None and request.known_at is None,
        described=True,
        seqs=[line.seq for hit in quoted for line in hit.lines],
    )
    _set_marks(
        conversation,
        request,
        [*candidates.facts, *candidates.pinned],
        candidates.episodes,
        candidates.messages.values(),
    )
    taken = count_tokens(recent.text) + 1 if recent else 0
    packed = lines.fill_budget(
        candidates, quoted, request=request, max_tokens=request.max_tokens - taken, now=now
    )
    blocks = (*packed.blocks(), *([recent] if recent else []))
    return Chosen(
        facts=packed.facts,
        episodes=lines.serve(candidates.episodes, packed),
        text=packing.join(blocks),
        blocks=blocks,
        recent=recent,
        cut=tuple(message_id for block in blocks for message_id in block.cut),
    )


def _choose_recent(recent: Block | None, *, is_packed: bool) -> Chosen:
    """Return what was not found but asked for by number, and nothing else."""
    parts = () if recent is None else (recent,)
    return Chosen(
        facts=[],
        episodes=[],
        text=packing.join(parts),
        blocks=parts if is_packed else None,
        recent=recent,
        cut=() if recent is None else recent.cut,
    )


def _put_corrections_first(
    tenant: Tenant, hits: Sequence[Hit], *, as_of: datetime | None
) -> list[Hit]:
    """Return facts in their order, but one that contradicts a correction behind that."""
    ids = {hit.memory_id for hit in hits}
    corrections = find_corrections(tenant=tenant, place_ids=ids, as_of=as_of)
    heirs = {fact_id: found.heir.id for fact_id, found in corrections.items() if found.heir}
    return put_newer_first(
        [
            replace(hit, newer=(*hit.newer, heirs[hit.memory_id]))
            if heirs.get(hit.memory_id) in ids
            else hit
            for hit in hits
        ]
    )


def _set_marks(
    conversation: Conversation,
    request: RecallRequest,
    facts: Sequence[FactHit],
    episodes: Sequence[EpisodeHit],
    messages: Iterable[Message] = (),
) -> None:
    """Set on what is served what answers say of it where something was corrected.

    Not on what was believed at a moment: the correction may have come later.
    """
    if request.known_at is None and (conversation.has_corrections or request.scope != CONVERSATION):
        rows: list[Message | Episode | Fact] = [*messages]
        rows += [row for hit in facts for row in hit.messages]
        rows += [row for hit in episodes for row in hit.messages]
        rows += [hit.fact for hit in facts]
        rows += [hit.episode for hit in episodes]
        set_corrections(conversation.tenant, rows, as_of=request.as_of)
        set_corrected(conversation, [hit.fact for hit in facts])


def _choose_all(
    conversation: Conversation,
    request: RecallRequest,
    fact_hits: Sequence[Hit],
    episode_hits: Sequence[Hit],
    recent: Block | None,
    now: datetime,
) -> Chosen:
    """Return all that was found: no budget limits the answer."""
    shown, detailed, with_pinned = (
        episodes_shown(episode_hits),
        episode_hits,
        _wants_pinned(request),
    )
    if request.is_plain:
        detailed = [
            row.found for row in shown if markdown.shows_details(row, detail=request.detail)
        ]
    if request.is_plain and not detailed and not with_pinned:
        facts, episodes = facts_shown(fact_hits), shown
    else:
        loaded = load_candidates(
            conversation, fact_hits, detailed, with_pinned=with_pinned, described=True, whole=True
        )
        facts = [*loaded.facts, *loaded.pinned]
        with_messages = {row.found.memory_id: row for row in loaded.episodes}
        episodes = [with_messages.get(row.found.memory_id, row) for row in shown or loaded.episodes]
    _set_marks(conversation, request, facts, episodes)
    text = markdown.render(
        facts,
        episodes,
        detail=request.detail,
        now=now,
        explain=request.explain,
        whole=request.whole,
    )
    cut: tuple[uuid.UUID, ...] = ()
    if not request.whole:
        quoted = [hit for hit in episodes if markdown.shows_details(hit, detail=request.detail)]
        messages = (message for hit in quoted for message in hit.messages)
        cut = tuple(message.id for message in messages if markdown.is_capped(message))
    if recent is not None:
        text = "\n".join(part for part in (text, recent.text) if part)
        cut += recent.cut
    return Chosen(facts=facts, episodes=episodes, text=text, recent=recent, cut=cut)


def _wants_pinned(request: RecallRequest) -> bool:
    """Return whether something goes before any answer or into a budget unasked."""
    has_place = request.kind is Retrieval.Kind.CONTEXT or request.max_tokens is not None
    is_present = request.as_of is None and request.known_at is None
    return has_place and not request.category and is_present


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


def find_known(
    conversation: Conversation, known_at: datetime, as_of: datetime | None
) -> list[uuid.UUID]:
    """Return the facts and episodes of a conversation that the server had at a moment.

    With `as_of` the facts that it held then to be true at that other one. What was
    quarantined or erased since is left out.
    """
    facts = beliefs.facts_believed_at(
        tenant=conversation.tenant, known_at=known_at, as_of=as_of, conversation=conversation
    )
    return [*facts, *episodic_queries.episodes_known_at(conversation, known_at)]


def _estimate_relevance(request: RecallRequest, hits: Sequence[Hit], degraded: str) -> float | None:
    """Return how likely the hits hold what was asked for; None: without a vector nobody knows.

    A fact names whom it is about, so it tells best; where there is none, an episode does.
    """
    if request.scope != CONVERSATION or degraded:
        return None
    cosines = {
        shelf: [hit.cosine for hit in hits if hit.shelf is shelf and hit.cosine is not None]
        for shelf in (MemoryKind.FACT, MemoryKind.EPISODE)
    }
    best = max(cosines[MemoryKind.FACT] or cosines[MemoryKind.EPISODE], default=None)
    if best is None:
        return 0.0
    likeness = likeness_of(embeddings.get_embedder().name)
    return round(estimate_relevance(likeness.share(best)), 2)


def choose_fusion(tenant: Tenant, request: RecallRequest) -> Fusion:
    """Return the numbers for a request: its own, else the tenant's, else the defaults."""
    return DEFAULTS.changed(tenant.settings.get(SETTING)).changed(request.fusion)


def _render_request(request: RecallRequest, fusion: Fusion) -> dict[str, Any]:
    """Return every parameter as it was applied, the query aside."""
    params = asdict(request)
    del params["query"], params["kind"]
    moments = {"as_of": request.as_of, "known_at": request.known_at}
    written = {name: moment and moment.isoformat() for name, moment in moments.items()}
    return params | written | {"fusion": fusion.as_parameters()}
