"""Searches the conversations of a user, or all of a tenant, as one conversation is searched.

The ranks of both legs are those of the search of a tenant; they are fused, and episodes
weighted, by the numbers of the question.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace

from episodic import fsrs_memory
from episodic import queries as episodic_queries
from episodic.models import Episode
from indexing.models import MemoryKind
from memoryproject.tenancy.models import Tenant
from retrieval.hits import Finding, Hit
from retrieval.search.in_conversation import Question
from retrieval.search.in_tenant import SearchRequest, find_with

LEGS = 4
"""Memories that are looked at, in depths of a leg: those found by both are shared."""


def search(*, tenant: Tenant, question: Question, user_id: str | None) -> list[Hit]:
    """Return the best memories of each shelf, each shelf best first; a statement a shelf.

    Of a user's conversations, or with None of all. Facts and episodes that are believed now.
    """
    limits = {MemoryKind.FACT: question.fact_limit, MemoryKind.EPISODE: question.episode_limit}
    return [
        hit
        for shelf in question.shelves
        for hit in _search_shelf(tenant, question, user_id, shelf)[: limits[shelf]]
    ]


def _search_shelf(
    tenant: Tenant, question: Question, user_id: str | None, shelf: MemoryKind
) -> list[Hit]:
    request = SearchRequest(
        query=question.request.query,
        source_types=[shelf.value],
        user_id=user_id,
        category=question.request.searched_category if shelf is MemoryKind.FACT else None,
        max_results=LEGS * question.fusion.depth,
    )
    findings = find_with(tenant=tenant, request=request, meaning=question.meaning).best
    episodes = _load_states(tenant, findings) if shelf is MemoryKind.EPISODE else {}
    hits = [_fuse(finding, question, episodes.get(finding.memory_id)) for finding in findings]
    ordered = sorted((hit for hit in hits if hit.rrf), key=lambda hit: (-hit.score, hit.memory_id))
    return [replace(hit, rank=rank) for rank, hit in enumerate(ordered, start=1)]


def _load_states(tenant: Tenant, findings: Sequence[Finding]) -> Mapping[uuid.UUID, Episode]:
    ids = [finding.memory_id for finding in findings]
    rows = episodic_queries.episodes_with_state(tenant=tenant, episode_ids=ids)
    return {row.id: row for row in rows.only("tenant", "stability", "last_reviewed_at")}


def _fuse(finding: Finding, question: Question, episode: Episode | None) -> Hit:
    fusion = question.fusion
    legs = (
        (finding.lexical_rank, fusion.lexical_weight),
        (finding.vector_rank, fusion.vector_weight),
    )
    rrf = sum(weight / (fusion.k + rank) for rank, weight in legs if rank and rank <= fusion.depth)
    kept = 1.0
    if episode is not None:
        elapsed = question.now - episode.last_reviewed_at
        kept = fsrs_memory.retrievability(elapsed=elapsed, stability_days=episode.stability)
        kept = max(kept, fusion.floor)
    cosine = None if finding.distance is None else 1 - finding.distance
    return replace(finding, score=rrf * kept, rrf=rrf, retrievability=kept, cosine=cosine)
