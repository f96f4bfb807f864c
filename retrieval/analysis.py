"""Analyzes an answer for the playground: what each ranking found, and what was served of it.

A receipt records what an agent was served. Here nobody was served, so there is none: no memory
counts as used, no review is due, and no message can be an echo.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from indexing.models import MemoryKind
from memoryproject.tenancy.models import Tenant
from retrieval import recall
from retrieval.hits import Hit
from retrieval.recall import Draft
from retrieval.request import RecallRequest
from retrieval.scope import Scope
from retrieval.search.in_conversation import (
    DEPTH,
    Question,
    put_newer_first,
    search,
    search_unordered,
)
from retrieval.search.in_scope import narrow

FACT, EPISODE = MemoryKind.FACT, MemoryKind.EPISODE


class Outcome(Enum):
    """What happened to a memory that a ranking found."""

    SERVED = "served"
    LIMIT = "below the limit"
    """Its rank is beyond the requested number of memories."""
    BUDGET = "did not fit"
    """It did not fit into `max_tokens`, or a better memory says the same."""


RankedMemory = tuple[Hit, Outcome]
"""A memory that a ranking found, and its outcome."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The answer that an agent would get, and everything found, each kind best first."""

    draft: Draft
    facts: tuple[RankedMemory, ...]
    episodes: tuple[RankedMemory, ...]


def analyse(*, tenant: Tenant, request: RecallRequest, now: datetime) -> Analysis:
    """Draft the answer to a request, and find everything that both rankings returned.

    The draft comes from `recall`. Without a token budget one search serves both; the draft is cut
    to the limits. With one, a second search without limits gives the same ranks.
    """
    candidates: list[Hit] = []
    limits: dict[MemoryKind, int] = {}

    def find(scope: Scope, question: Question) -> list[Hit]:
        limits.update({FACT: request.semantic_limit, EPISODE: question.episode_limit})
        question = narrow(scope, question)
        hits = search_unordered(scope, _widen(question))
        candidates.extend(put_newer_first(hits))
        return search(scope, question) if question.line_limit else _cut(hits, limits)

    draft = recall.draft_answer(tenant=tenant, request=request, now=now, find=find)
    served = frozenset(hit.memory_id for hit in draft.served)
    facts, episodes = (
        _judge(candidates, shelf, served, limit=limits.get(shelf, 0)) for shelf in (FACT, EPISODE)
    )
    return Analysis(draft=draft, facts=facts, episodes=episodes)


def _widen(question: Question) -> Question:
    """Return a question for everything that both rankings return, with explanations."""
    everything = max(2 * DEPTH, question.fact_limit, question.episode_limit)
    return replace(
        question,
        request=replace(question.request, explain=True),
        fact_limit=everything,
        episode_limit=everything,
        line_limit=0,
        shown=True,
    )


def _cut(hits: Sequence[Hit], limits: Mapping[MemoryKind, int]) -> list[Hit]:
    """Return the hits within the limits, as a search with these limits returns them."""
    kept = [hit for hit in hits if hit.rank <= limits[hit.shelf]]
    ids = {hit.memory_id for hit in kept}
    return put_newer_first(
        [replace(hit, newer=tuple(filter(ids.__contains__, hit.newer))) for hit in kept]
    )


def _judge(
    hits: Sequence[Hit], shelf: MemoryKind, served_ids: frozenset[uuid.UUID], *, limit: int
) -> tuple[RankedMemory, ...]:
    def judge(hit: Hit) -> Outcome:
        if hit.memory_id in served_ids:
            return Outcome.SERVED
        return Outcome.LIMIT if hit.rank > limit else Outcome.BUDGET

    return tuple((hit, judge(hit)) for hit in hits if hit.shelf is shelf)
