"""Curators' notes about facts in the review queue, and how often rules were right."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now

from memoryproject.edge.errors import get_row
from memoryproject.tenancy.models import Tenant
from semantic.engines import SuggestionKind
from semantic.models import Fact, Suggestion, Triage
from semantic.patterns import read_text

READ_AT_MOST = 2_000
"""Number of newest active facts searched for those that name nobody."""
DANGLING = read_text("facts.dangling")
"""Beginnings of sentences that are unclear by themselves; a quotation names its speaker."""
AUTOMATIC = "automatic rule "
"""Prefix of the actor of automatic decisions."""
Rule = tuple[str, str]
"""Kind and reason of a suggestion."""
Rates = dict[Rule, tuple[int, int]]
"""Number of suggestions that people decided, and accepted, by rule."""


def find_dangling(tenant: Tenant) -> QuerySet[Fact]:
    """Return active facts that begin with a pronoun for somebody unnamed, newest first."""
    active = Fact.objects.of(tenant).filter(invalid_at=None).order_by("-id")
    newest = active.values("id")[:READ_AT_MOST]
    return active.filter(id__in=newest, fact__iregex=DANGLING)


def read_triage(tenant: Tenant, fact_ids: Collection[UUID]) -> Mapping[UUID, Triage]:
    """Return the curators' notes, by fact."""
    rows = Triage.objects.of(tenant).filter(fact__in=fact_ids)
    return {row.fact_id: row for row in rows}


def set_triage(tenant: Tenant, fact_id: UUID, *, actor: str, **values: Any) -> Triage:
    """Store notes about a fact: assignee, comment, snoozed_until, is_kept."""
    fact = get_row(Fact.objects.of(tenant), "fact", id=fact_id)
    values |= {"changed_by": actor, "changed_at": Now()}
    row, _ = Triage.objects.of(tenant).update_or_create(
        fact=fact,
        defaults=values,
        create_defaults={**values, "tenant": tenant, "conversation_id": fact.conversation_id},
    )
    return row


def is_set_aside(row: Triage | None, *, now: datetime) -> bool:
    """Return whether a fact is hidden from the queue now."""
    return bool(row and (row.is_kept or (row.snoozed_until and row.snoozed_until > now)))


def measure_rules(tenant: Tenant) -> Rates:
    """Return, by rule, how many suggestions people decided, and how many they accepted."""
    decided = Suggestion.objects.of(tenant).filter(is_reopened=False, is_withdrawn=False)
    decided = decided.exclude(kind=SuggestionKind.ERASE)  # no rule: a user asked for it
    is_accepted = Q(decision=Suggestion.Decision.ACCEPTED)
    by_people = decided.exclude(decision="").exclude(decided_by__actor__startswith=AUTOMATIC)
    rows = by_people.order_by().values("kind", "reason")
    counted = rows.annotate(decided=Count("id"), accepted=Count("id", filter=is_accepted))
    return {(row["kind"], row["reason"]): (row["decided"], row["accepted"]) for row in counted}
