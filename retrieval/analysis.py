"""Analyses an answer for the playground: what each leg found, and what was served of it.

A receipt says what an agent was told. Nobody was told this, so there is none: it is no
exposure of a memory, waits for no review, and is no source of echoes.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from indexing.models import MemoryKind
from memoryproject.tenancy.models import Tenant
from retrieval import recall
from retrieval.hits import Hit
from retrieval.recall import Draft
from retrieval.request import RecallRequest
from retrieval.search.in_conversation import search


class Outcome(Enum):
    """What became of a memory that a leg found."""

    SERVED = "served"
    LIMIT = "below the limit"
    """Its rank is worse than as many memories as were asked for."""
    BUDGET = "did not fit"
    """There was no room for it in `max_tokens`, or a better one says the same."""


@dataclass(frozen=True, slots=True)
class RankedMemory:
    """A memory that a leg found."""

    found: Hit
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Analysis:
    """The answer an agent would get, and all that was found, each kind best first."""

    draft: Draft
    facts: tuple[RankedMemory, ...]
    episodes: tuple[RankedMemory, ...]


def analyse(*, tenant: Tenant, request: RecallRequest, now: datetime) -> Analysis:
    """Draft the answer to a request, and find everything that both legs brought for it.

    The draft is `recall`'s own. A second search, without its limits, has the same ranks.
    """
    draft = recall.draft_answer(tenant=tenant, request=request, now=now)
    if draft.conversation is None:
        return Analysis(draft=draft, facts=(), episodes=())
    question = recall.to_question(request, draft.fusion, draft.vector, draft.model, now)
    if request.known_at:
        known = recall.find_known(draft.conversation, request.known_at, request.as_of)
        question = replace(question, known=known)
    everything = 2 * draft.fusion.depth
    hits = search(
        draft.conversation,
        replace(
            question,
            fact_limit=everything,
            episode_limit=everything,
            line_limit=0,
            explain=True,
            shown=True,
        ),
    )
    served_ids = frozenset(hit.memory_id for hit in draft.served)
    return Analysis(
        draft=draft,
        facts=_judge(hits, MemoryKind.FACT, served_ids, limit=request.semantic_limit),
        episodes=_judge(hits, MemoryKind.EPISODE, served_ids, limit=question.episode_limit),
    )


def _judge(
    hits: Sequence[Hit], shelf: MemoryKind, served_ids: frozenset[uuid.UUID], *, limit: int
) -> tuple[RankedMemory, ...]:
    def judge(hit: Hit) -> Outcome:
        if hit.memory_id in served_ids:
            return Outcome.SERVED
        return Outcome.LIMIT if hit.rank > limit else Outcome.BUDGET

    return tuple(RankedMemory(hit, judge(hit)) for hit in hits if hit.shelf is shelf)
