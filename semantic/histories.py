"""Finds the versions, evidence and changes of a fact, and the changes of a changeset."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from django.db import connection
from django.db.models import Q

from semantic import queries
from semantic.models import Change, Changeset, Evidence, Fact

GENERATIONS_AT_MOST = 50
CHANGES_AT_MOST = 1_000


def versions_of(fact: Fact) -> list[Fact]:
    """Return what a fact replaced and what replaced it, itself included, oldest first.

    Two queries, however long the chain; at most 50 generations each way.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _read_statement(),
            {"tenant": fact.tenant_id, "fact": fact.id, "at_most": GENERATIONS_AT_MOST},
        )
        ids = [row[0] for row in cursor.fetchall()]
    return list(queries.facts_by_id(tenant=fact.tenant, fact_ids=ids))


def evidence_ever_of(fact: Fact) -> list[Evidence]:
    """Return all evidence that a fact has or had, oldest first, with its changesets."""
    rows = Evidence.objects.of(fact.tenant).filter(fact=fact).select_related("changeset")
    return list(rows.order_by("id"))


def changes_of(fact: Fact) -> list[Change]:
    """Return the steps that touched a fact with their changesets, oldest first.

    Of more than 1,000 the newest.
    Uses indexes: semantic_change_by_memory, semantic_change_by_other.
    """
    touching = Q(memory_id=fact.id) | Q(other_memory_id=fact.id)
    rows = Change.objects.of(fact.tenant).filter(touching).select_related("changeset")
    return list(reversed(rows.order_by("-id")[:CHANGES_AT_MOST]))


def changes_in(changeset: Changeset, *, after: int, at_most: int) -> list[Change]:
    """Return steps of a changeset in their order, from behind position `after` on."""
    rows = Change.objects.of(changeset.tenant).filter(changeset=changeset, position__gt=after)
    return list(rows.order_by("position")[:at_most])


@cache
def _read_statement() -> str:
    file = Path(__file__).parent / "sql" / "versions_of_fact.sql"
    return file.read_text(encoding="utf-8")
