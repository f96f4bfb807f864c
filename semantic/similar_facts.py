"""Finds the facts that say what a new one says in like words: the same, or declared wrong."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence

from indexing import queries as index
from indexing.models import MemoryKind
from indexing.queries import Neighbour
from semantic import queries
from semantic.duplicates import MERGE_COSINE, is_near_duplicate, is_same_fact
from semantic.models import Fact
from semantic.services import Ledger, NewFact

CANDIDATE_LIMIT = 5


def find_alike(new: NewFact, *, ledger: Ledger) -> tuple[Fact | None, Fact | None]:
    """Return the active fact that is near and agrees, or None, and else one that seems to.

    What only seems to is for a person to merge.
    """
    conversation = ledger.conversation
    if new.vector is None:
        return None, None
    near = index.nearest(
        tenant=conversation.tenant,
        conversation=conversation,
        shelf=MemoryKind.FACT,
        invalid_at=None,
        vector=new.vector,
        at_most=CANDIDATE_LIMIT,
    )
    near = [neighbour for neighbour in near if neighbour.cosine >= MERGE_COSINE]
    if not near:
        return None, None
    facts = queries.active_facts(
        tenant=conversation.tenant, fact_ids=[neighbour.memory_id for neighbour in near]
    )
    same = _find_first(new, near, facts, says_so=is_same_fact)
    return same, None if same else _find_first(new, near, facts, says_so=is_near_duplicate)


def find_declared_wrong(
    new: NewFact, wrong: Mapping[uuid.UUID, Fact], *, ledger: Ledger
) -> Fact | None:
    """Return which of the facts that were declared wrong says the same, or None."""
    if not wrong:
        return None
    content_hash = queries.content_hash(new.fact)
    same = next((fact for fact in wrong.values() if fact.content_hash == content_hash), None)
    if same is not None or new.vector is None:
        return same
    near = index.nearest(
        memory__in=list(wrong),
        tenant=ledger.conversation.tenant,
        vector=new.vector,
        at_most=CANDIDATE_LIMIT,
    )
    return _find_first(new, near, wrong, says_so=is_same_fact)


def _find_first(
    new: NewFact,
    near: Sequence[Neighbour],
    facts: Mapping[uuid.UUID, Fact],
    *,
    says_so: Callable[..., bool],
) -> Fact | None:
    """Return the nearest of the facts that a rule takes for the new one."""
    for neighbour in near:
        fact = facts.get(neighbour.memory_id)
        if fact is not None and says_so(
            fact.fact,
            new.fact,
            category_a=fact.category,
            category_b=new.category,
            cosine=neighbour.cosine,
        ):
            return fact
    return None
