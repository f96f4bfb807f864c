"""Counts how facts are supported, served and contradicted, by a few queries for all of them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Q

from memoryproject.tenancy.models import Tenant
from retrieval.receipts import Use, measure_use
from semantic.models import Evidence, Fact
from wings.suggestions.suggestions import find_suggestions


def set_use(facts: Sequence[Fact]) -> None:
    """Set `evidence_count`, `use` and `conflict_count` on facts: three queries for each tenant."""
    by_tenant: dict[Tenant, list[Any]] = defaultdict(list)
    for fact in facts:
        by_tenant[fact.tenant].append(fact)
    for tenant, rows in by_tenant.items():
        ids = [fact.id for fact in rows]
        evidence = Evidence.objects.of(tenant).filter(fact__in=ids, withdrawn_by=None).order_by()
        counts = dict(evidence.values_list("fact").annotate(Count("id")))
        about = find_suggestions(tenant).filter(Q(old_fact__in=ids) | Q(new_fact__in=ids))
        pairs = about.order_by().values_list("old_fact", "new_fact")
        conflicts = Counter(fact_id for pair in pairs for fact_id in pair)
        uses = measure_use(tenant, ids)
        for fact in rows:
            fact.evidence_count, fact.conflict_count = counts.get(fact.id, 0), conflicts[fact.id]
            fact.use = uses.get(fact.id, Use())
