"""Finds the facts that an agent gets unasked: guidelines, and what may endanger somebody."""

from __future__ import annotations

from collections.abc import Collection
from itertools import count

from episodic.models import Conversation
from indexing.models import MemoryKind
from retrieval.hits import Hit
from semantic import queries as semantic_queries

PINNED_AT_MOST = 10


def find_pinned(conversation: Conversation, *, beside: Collection[Hit]) -> list[Hit]:
    """Return the pinned facts that a search has not found, newest first, ranked behind it."""
    known = {hit.memory_id for hit in beside}
    facts = semantic_queries.pinned_facts(conversation, at_most=PINNED_AT_MOST + len(known))
    missing = [(fact, sources) for fact, sources in facts if fact.id not in known]
    ranks = count(1 + max((hit.rank for hit in beside), default=0))
    return [
        Hit(
            memory_id=fact.id,
            shelf=MemoryKind.FACT,
            rank=next(ranks),
            score=0.0,
            shown=(fact.category, fact.fact, fact.valid_at.isoformat(), sources),
        )
        for fact, sources in missing[:PINNED_AT_MOST]
    ]
