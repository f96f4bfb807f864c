"""Finds and counts facts, their evidence, versions and changes. Every query names its tenant."""

import hashlib
import unicodedata
import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Q, QuerySet

from episodic import queries as episodic_queries
from episodic.models import Conversation, Message
from memoryproject.database.clock import execute, read_sql
from memoryproject.tenancy.models import Tenant
from semantic.models import Change, Evidence, Fact

GENERATIONS_AT_MOST = 50
CHANGES_AT_MOST = 1_000


def content_hash(fact: str) -> str:
    """Return the hash that identifies a sentence, ignoring case and spacing."""
    folded = " ".join(unicodedata.normalize("NFKC", fact).casefold().split())
    return hashlib.sha256(folded.rstrip(".!。 ").encode()).hexdigest()


def active_facts(*, tenant: Tenant, fact_ids: Iterable[uuid.UUID]) -> QuerySet[Fact]:
    """Return the facts that are still active, in order of id."""
    return facts_by_id(tenant=tenant, fact_ids=fact_ids).filter(invalid_at=None)


def facts_by_id(*, tenant: Tenant, fact_ids: Iterable[uuid.UUID]) -> QuerySet[Fact]:
    """Return the facts of those ids, active or not, in order of id."""
    return Fact.objects.of(tenant).filter(id__in=list(fact_ids)).order_by("id")


def find_active(*, conversation: Conversation, fact: str) -> Fact | None:
    """Return the active fact with exactly this sentence, or None."""
    return active_in(conversation).filter(content_hash=content_hash(fact)).first()


def facts_by_hash(
    rows: QuerySet[Fact], sentences: Iterable[str], *, home: Conversation
) -> dict[str, Fact]:
    """Return the facts, among these, that have one of these sentences, by its hash.

    If several do, the oldest; those of the home conversation come first.
    """
    same = rows.filter(content_hash__in=set(map(content_hash, sentences))).order_by("-id")
    best_last = sorted(same, key=lambda fact: fact.conversation_id == home.id)
    return {fact.content_hash: fact for fact in best_last}


def facts_waiting(tenant: Tenant) -> QuerySet[Fact]:
    """Return the facts that are pending review. Uses index: semantic_fact_waiting."""
    return Fact.objects.of(tenant).filter(invalidated_because=Fact.Because.WAITING)


def active_in(conversation: Conversation) -> QuerySet[Fact]:
    """Return the active facts of a conversation, in no order. Uses index: semantic_fact_active."""
    return Fact.objects.within(conversation).filter(invalid_at=None)


def facts_seen_from(conversation: Conversation | None, rows: QuerySet[Fact]) -> QuerySet[Fact]:
    """Return the facts that a conversation owns or has evidence of; None: no fact.

    Uses index: semantic_evidence_elsewhere.
    """
    if conversation is None:
        return rows.none()
    own = Q(conversation=conversation)
    if not conversation.user_id:
        return rows.filter(own)
    supported = Evidence.objects.within(conversation).filter(withdrawn_by=None)
    # A list: behind OR each fact of the tenant would be looked up in a subquery.
    ids = list(supported.values_list("fact_id", flat=True).distinct())
    return rows.filter(own | Q(id__in=ids) if ids else own)


def evidence_of(
    *,
    tenant: Tenant,
    fact_ids: Iterable[uuid.UUID],
    conversation: Conversation | None = None,
) -> dict[uuid.UUID, list[Evidence]]:
    """Return each fact's evidence that counts, oldest first, in one query.

    With a conversation: only evidence from its own episodes.
    """
    evidence: dict[uuid.UUID, list[Evidence]] = defaultdict(list)
    rows = Evidence.objects.of(tenant).filter(fact__in=list(fact_ids), withdrawn_by=None)
    if conversation is not None:
        here = Q(conversation=conversation)
        rows = rows.filter(here | Q(conversation=None, fact__conversation=conversation))
    for row in rows.order_by("fact_id", "id"):
        evidence[row.fact_id].append(row)
    return evidence


def messages_behind(fact: Fact, evidence: Sequence[Evidence]) -> dict[uuid.UUID, list[Message]]:
    """Return the messages that a fact's evidence names, by its row, in one query.

    Erased messages are missing.
    """
    places = {
        row.id: [(row.conversation_id or fact.conversation_id, seq) for seq in row.message_seqs]
        for row in evidence
    }
    wanted = sorted({place for several in places.values() for place in several})
    rows = episodic_queries.messages_in_places(wanted).filter(tenant=fact.tenant_id)
    messages = {(row.conversation_id, row.seq): row for row in rows}
    return {
        row_id: [messages[place] for place in several if place in messages]
        for row_id, several in places.items()
    }


def versions_of(fact: Fact) -> list[Fact]:
    """Return what a fact replaced and what replaced it, itself included, oldest first.

    Takes two queries; the chain has up to 50 generations each way.
    """
    params = {"tenant": fact.tenant_id, "fact": fact.id, "at_most": GENERATIONS_AT_MOST}
    ids = fetch_ids("versions_of_fact.sql", params)
    return list(facts_by_id(tenant=fact.tenant, fact_ids=ids))


def changes_of(fact: Fact) -> list[Change]:
    """Return the steps that touched a fact with their changesets, oldest first.

    At most 1,000: the newest.
    Uses indexes: semantic_change_by_memory, semantic_change_by_other.
    """
    touching = Q(memory_id=fact.id) | Q(other_memory_id=fact.id)
    rows = Change.objects.of(fact.tenant).filter(touching).select_related("changeset")
    return list(reversed(rows.order_by("-id")[:CHANGES_AT_MOST]))


def fetch_ids(name: str, params: dict[str, Any]) -> list[uuid.UUID]:
    """Return the first column of the result of a statement under `sql`."""
    return [row[0] for row in execute(read_sql(__file__, name), params)]
