"""The flow that answers an agent: embed the query, search once, load, write the receipt."""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any

from django.db import IntegrityError

from episodic import queries as episodic_queries
from episodic.models import Conversation
from episodic.queries import Progress
from indexing.model_change import choose_embedder, find_gap
from indexing.models import MemoryKind
from memoryproject.ai.embeddings import Embedder
from memoryproject.process import metrics, traces
from memoryproject.tenancy.models import APIKey, Tenant
from memoryproject.tenancy.reading import Reading
from memoryproject.text.parts import Part, is_marked, join, split_lines
from memoryproject.text.tokens import count_tokens
from retrieval import markdown, receipts, selection
from retrieval.hits import Hit
from retrieval.markdown import Fence
from retrieval.models import Retrieval
from retrieval.request import RecallRequest
from retrieval.scope import Scope, find_scope
from retrieval.search import in_conversation, in_scope
from retrieval.search.in_conversation import Meaning, Question, to_question
from retrieval.search.scores import EPISODE_SHARE, estimate_relevance, likeness_of
from retrieval.search.several import join_found
from retrieval.selection import Chosen
from semantic import beliefs

Find = Callable[[Scope, Question], list[Hit]]


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer, its receipt, and the duration of its two slow steps."""

    chosen: Chosen
    parts: list[Part]
    text: str
    """The joined parts."""
    fence: Fence
    receipt: Retrieval
    """Stored once somebody is served the answer; the caller is not known before."""
    embedding_s: float
    search_s: float
    is_left_out: bool
    """Whether the answer is less relevant than requested, so that nothing found is served."""

    @property
    def unmarked_lines(self) -> list[str]:
        """The lines of the text without those that carry the mark of a correction."""
        return [join(line) for line in split_lines(self.parts) if not is_marked(line)]

    @property
    def served(self) -> list[Hit]:
        """The memories that it would serve, facts first, each kind best first."""
        return [hit.found for hit in self.chosen.hits]


def recall(reading: Reading, request: RecallRequest, *, now: datetime) -> tuple[Draft, Progress]:
    """Answer a request and write its receipt; also return how far the conversation is processed.

    Calls no language model.

    An unknown conversation gets an empty answer, and is not created. If the query cannot be
    embedded, only words are searched, and the answer says so.
    """

    def draft_and_measure() -> tuple[Draft, Progress]:
        draft = draft_answer(tenant=reading.tenant, request=request, now=now)
        return draft, episodic_queries.measure_progress(draft.receipt.conversation)

    started, fresh = time.monotonic(), request.min_seq is not None or request.fresh
    draft, progress = reading.read(draft_and_measure, fresh=fresh)
    try:
        _write_down(draft, request, reading.key, started=started)
    except IntegrityError:  # erased, though a replica still had it: no receipt can name it
        started = time.monotonic()
        draft, progress = draft_and_measure()
        _write_down(draft, request, reading.key, started=started)
    return draft, progress


def _write_down(
    draft: Draft, request: RecallRequest, asked_by: APIKey | None, *, started: float
) -> None:
    """Store the receipt of an answer begun at `started`, with how long it took."""
    receipt = draft.receipt
    receipt.parts = receipts.keep_parts(draft.parts, is_shared=request.is_shared)
    drafted = time.monotonic()
    receipt.asked_by, receipt.signature = asked_by, receipts.sign(draft.text)
    receipts.write_receipt(receipt, hits=draft.served, started=started)
    stages = {
        "embed": draft.embedding_s,
        "search": draft.search_s,
        "compose": drafted - started - draft.embedding_s - draft.search_s,
        "receipt": time.monotonic() - drafted,
    }
    for stage, seconds in stages.items():
        metrics.stage_seconds.labels(stage).observe(seconds)
    named: dict[str, Any] = {traces.RECORDS: len(draft.served)}
    if request.conversation_id:
        named[traces.CONVERSATION] = str(request.conversation_id)
    traces.describe(named)


def draft_answer(
    *, tenant: Tenant, request: RecallRequest, now: datetime, find: Find | None = None
) -> Draft:
    """Return the answer to a request; nothing is stored, not even a receipt.

    `find` replaces the usual search, with the same kind of result.
    """
    conversation = None
    if request.conversation_id is not None:
        conversation = episodic_queries.find_conversation(
            tenant=tenant, external_id=request.conversation_id
        )
    scope = find_scope(
        tenant=tenant,
        conversation=conversation,
        scope=request.scope,
        user_id=request.user_id,
        agent_id=request.agent_id,
        exclude_current=request.exclude_current,
    )
    place = scope.conversation.id if scope and scope.conversation else None
    embedder = choose_embedder(tenant=tenant, conversation_id=place)
    if find is None:
        find = in_scope.search if scope and scope.is_everything else in_conversation.search
    return _draft(tenant, scope, conversation, embedder, request, now, find)


def _draft(
    tenant: Tenant,
    scope: Scope | None,
    conversation: Conversation | None,
    embedder: Embedder,
    request: RecallRequest,
    now: datetime,
    find: Find,
) -> Draft:
    started = time.perf_counter()
    meanings, degraded = [Meaning()], ""
    if scope:
        meanings = [in_conversation.embed(query, embedder) for query in request.questions]
        degraded = next(filter(None, (one.degraded for one in meanings)), "") or find_gap(tenant)
    embedded = time.perf_counter()
    known = find_known(scope, request)
    found = [
        find(scope, to_question(replace(request, query=query), meaning, now, known))
        for query, meaning in zip(request.questions, meanings, strict=True)
        if scope
    ]
    hits = join_found(found) if len(found) > 1 else [*chain(*found)]
    searched = time.perf_counter()
    fence = markdown.make_fence(wanted=request.fence)
    asked, parameters = request.asked, request.to_json()
    if request.max_tokens is not None:  # a token at least is left
        request = replace(
            request,
            query=request.joined,
            max_tokens=max(1, request.max_tokens - fence.tokens),
        )
    relevance = _estimate_relevance(hits, embedder, degraded)
    is_left_out = relevance is not None and relevance < request.min_relevance
    chosen = Chosen([], [])
    if scope:
        chosen = selection.choose(
            scope, request, hits, now, conversation=conversation, is_left_out=is_left_out
        )
    parts = markdown.compose(chosen.blocks, fence)
    text = join(parts)
    receipt = Retrieval(
        tenant=tenant,
        conversation=conversation,
        kind=request.kind,
        query=asked,
        parameters=parameters,
        embedding_model=meanings[0].model,
        degraded=degraded,
        tokens=count_tokens(text),
        relevance=relevance,
    )
    costs = embedded - started, searched - embedded
    return Draft(chosen, parts, text, fence, receipt, *costs, is_left_out)


def find_known(scope: Scope | None, request: RecallRequest) -> list[uuid.UUID] | None:
    """Return the facts and episodes known at the moment asked about; None: now.

    With `as_of`, facts are those that the server then believed true at that moment. What was
    quarantined or erased since is left out. The search of a whole tenant does this by itself.
    """
    if scope is None or scope.is_everything or request.known_at is None:
        return None
    facts = beliefs.facts_believed_at(
        tenant=scope.tenant, known_at=request.known_at, as_of=request.as_of, homes=scope.homes
    )
    episodes = episodic_queries.episodes_known_at(scope.tenant, scope.homes, request.known_at)
    return [*facts, *episodes]


def _estimate_relevance(hits: Sequence[Hit], embedder: Embedder, degraded: str) -> float | None:
    """Return how likely the hits contain the answer; None: unknown without a vector.

    The best fact says most, as facts name their subject; what only an assistant said is in the
    episodes alone, of which the best counts by a share where there are facts.
    """
    if degraded:
        return None
    likeness = likeness_of(embedder.name)
    near = [
        (hit.shelf is MemoryKind.FACT, likeness.share(hit.cosine))
        for hit in hits
        if hit.cosine is not None
    ]
    weight = EPISODE_SHARE if any(is_fact for is_fact, _ in near) else 1.0
    shares = [share if is_fact else weight * share for is_fact, share in near]
    return round(estimate_relevance(max(shares)), 2) if shares else 0.0
