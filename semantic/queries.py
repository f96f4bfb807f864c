"""Reading facts and their evidence. Every query names its tenant."""

from __future__ import annotations

import hashlib
import unicodedata
import uuid
from collections import defaultdict
from collections.abc import Iterable

from django.db.models import QuerySet

from episodic.models import Conversation
from memoryproject.tenancy.models import Tenant
from semantic.models import Evidence, Fact


def content_hash(fact: str) -> str:
    """Return the hash under which a sentence is held once: case and spacing do not count."""
    folded = " ".join(unicodedata.normalize("NFKC", fact).casefold().split())
    return hashlib.sha256(folded.rstrip(".!。 ").encode()).hexdigest()


def active_facts(
    *, tenant: Tenant, fact_ids: Iterable[uuid.UUID], lock: bool = False
) -> dict[uuid.UUID, Fact]:
    """Return those of the facts that are still held, by id; locked in order of id if asked."""
    held = Fact.objects.of(tenant).filter(id__in=list(fact_ids), invalid_at=None)
    rows = held.select_for_update() if lock else held
    return {fact.id: fact for fact in rows.order_by("id")}


def facts_by_id(*, tenant: Tenant, fact_ids: Iterable[uuid.UUID]) -> QuerySet[Fact]:
    """Return the facts of those ids, held or not, in order of id."""
    return Fact.objects.of(tenant).filter(id__in=list(fact_ids)).order_by("id")


def find_active(*, conversation: Conversation, fact: str) -> Fact | None:
    """Return the active fact that says just this, or None."""
    held = Fact.objects.of(conversation.tenant).filter(
        conversation=conversation, content_hash=content_hash(fact), invalid_at=None
    )
    return held.first()


def find_waiting(*, conversation: Conversation, fact: str) -> Fact | None:
    """Return the fact that says just this and waits for a curator, or None."""
    waiting = facts_waiting(conversation.tenant).filter(
        conversation=conversation, content_hash=content_hash(fact)
    )
    return waiting.order_by("id").first()


def facts_waiting(tenant: Tenant) -> QuerySet[Fact]:
    """Return the facts that wait for a curator. Uses index: semantic_fact_waiting."""
    return Fact.objects.of(tenant).filter(invalidated_because=Fact.Because.WAITING)


def facts_declared_wrong(conversation: Conversation) -> dict[uuid.UUID, Fact]:
    """Return what people say was never true, by id. Uses index: semantic_fact_declared_wrong."""
    wrong = Fact.objects.of(conversation.tenant).filter(
        conversation=conversation, invalidated_because=Fact.Because.WRONG
    )
    return {fact.id: fact for fact in wrong.order_by("id")}


def count_active(conversation: Conversation) -> int:
    """Return how many facts the conversation holds. Uses index: semantic_fact_active."""
    held = Fact.objects.of(conversation.tenant).filter(conversation=conversation, invalid_at=None)
    return held.count()


def evidence_of(
    *, tenant: Tenant, fact_ids: Iterable[uuid.UUID]
) -> dict[uuid.UUID, list[Evidence]]:
    """Return each fact's evidence that counts, oldest first, in one query."""
    found: dict[uuid.UUID, list[Evidence]] = defaultdict(list)
    rows = Evidence.objects.of(tenant).filter(fact__in=list(fact_ids), withdrawn_by=None)
    for row in rows.order_by("fact_id", "id"):
        found[row.fact_id].append(row)
    return found
