"""Makes facts findable in every conversation that has evidence of them.

A fact is found in the conversation it comes from and in its user's scope. Another conversation of
that user with evidence of it finds a copy of its search unit, which belongs to that conversation
alone. So a search of the whole user finds each fact once.
"""

import uuid
from collections.abc import Iterable, Sequence
from itertools import groupby

from episodic.models import Conversation
from indexing import queries as index_queries
from indexing import services as index
from indexing.models import Memory, MemoryKind, SearchUnit, SearchVector, UnitKind
from indexing.services import Entry
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Vectors
from memoryproject.tenancy.models import Tenant
from semantic.models import Evidence, Fact


def fact_entry(fact: Fact, *, language: str, vector: Vectors | None) -> Entry:
    """Return what makes a fact findable; a vector that is None is made by a job."""
    return Entry(
        memory=Memory(id=fact.id, tenant=fact.tenant, kind=MemoryKind.FACT),
        kind=UnitKind.FACT,
        lexical=f"{fact.fact} {' '.join(fact.keywords)}",
        vector=vector,
        language=language,
        valid_at=fact.valid_at,
        valid_until=fact.valid_until,
        category=fact.category,
        user_id=fact.user_id or None,
    )


def place_copies(tenant: Tenant, fact_ids: Iterable[uuid.UUID], *, model: str = "") -> None:
    """Copy each fact into other conversations that have evidence of it; delete other copies.

    Two queries if nothing has changed. `model` is the embedder whose vectors are copied;
    empty: this process's own.
    """
    ids = list(fact_ids)
    counting = Evidence.objects.of(tenant).filter(
        fact__in=ids, withdrawn_by=None, conversation__isnull=False
    )
    wanted = set(counting.values_list("conversation_id", "fact_id"))
    units = SearchUnit.objects.of(tenant).filter(memory__in=ids)
    there = {(home, fact_id) for home, fact_id in units.values_list("conversation_id", "memory_id")}
    facts = Fact.objects.of(tenant).in_bulk(ids)
    own = {(fact.conversation_id, fact.id) for fact in facts.values()}
    _delete(tenant, there - wanted - own)
    _add(tenant, facts, sorted(wanted - there), model=model or embeddings.get_embedder().name)


def _delete(tenant: Tenant, pairs: Iterable[tuple[uuid.UUID | None, uuid.UUID]]) -> None:
    for home, fact_id in sorted(pairs, key=str):
        for table in (SearchVector, SearchUnit):
            table.objects.of(tenant).filter(conversation=home, memory=fact_id).delete()


def _add(
    tenant: Tenant,
    facts: dict[uuid.UUID, Fact],
    pairs: Sequence[tuple[uuid.UUID, uuid.UUID]],
    *,
    model: str,
) -> None:
    homes = Conversation.objects.of(tenant).in_bulk({home for home, _ in pairs})
    for home, several in groupby(pairs, key=lambda pair: pair[0]):
        copied = [facts[fact_id] for _, fact_id in several]
        entries = [
            fact_entry(
                fact,
                language=homes[home].language,
                vector=index_queries.find_vector(tenant=tenant, memory_id=fact.id, model=model),
            )
            for fact in copied
        ]
        index.add_entries(tenant=tenant, conversation_id=home, entries=entries, model=model)
        marks = [(fact.id, fact.valid_until, fact.invalid_at) for fact in copied if fact.invalid_at]
        if marks:
            index.mark_memories(tenant=tenant, marks=marks)
