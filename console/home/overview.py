"""The front page of all tenants: a row a tenant, with its open work, cost, storage and refusals."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, Min, OuterRef, Q, QuerySet, Subquery, Sum

from episodic.models import Message
from jobs import spending
from jobs.models import Job, LLMCall, State
from memoryproject.adminkit import values
from memoryproject.tenancy import key_usage, quotas
from memoryproject.tenancy.models import StoredSize, Tenant
from semantic import suggestions
from semantic.models import Fact, Suggestion


@dataclass(frozen=True, slots=True)
class Row:
    """How one tenant stands. `oldest` is since when its oldest open job waits or runs."""

    tenant: Tenant
    last_message: datetime | None
    open_jobs: int
    dead_jobs: int
    oldest: datetime | None
    spent: Decimal
    budget: Decimal | None
    calls: int
    refused: int
    bytes: int
    bytes_limit: int | None
    to_decide: int
    """Open suggestions, and facts that are pending review."""

    @property
    def share(self) -> int | None:
        """Percent of today's budget; None: there is none."""
        if self.budget is None:
            return None
        return round(100 * self.spent / self.budget) if self.budget else 100

    @property
    def dead_list(self) -> str:
        """The address of its dead jobs."""
        return values.list_address(Job, state=State.DEAD.value, tenant__id=self.tenant.id)

    @property
    def is_troubled(self) -> bool:
        """Whether somebody should look."""
        return bool(self.dead_jobs or self.refused or (self.share or 0) >= 80)


def list_rows(tenants: Sequence[Tenant], *, now: datetime) -> list[Row]:
    """Return a row for each tenant, those in trouble first, in a handful of queries."""
    ids = [tenant.id for tenant in tenants]
    midnight = spending.start_of_day(now)
    is_open = Q(state__in=[State.READY, State.RUNNING])
    waits = _by_tenant(
        Job.across_tenants.filter(is_open), ids, count=Count("id"), oldest=Min("run_after")
    )
    dead = _by_tenant(Job.across_tenants.filter(state=State.DEAD), ids, count=Count("id"))
    calls = LLMCall.across_tenants.filter(created_at__gte=midnight)
    spent = _by_tenant(calls, ids, sum=Sum("cost", default=Decimal(0)))
    stored = _by_tenant(StoredSize.across_tenants.all(), ids, bytes=Sum("byte_count"))
    asked = _by_tenant(Suggestion.across_tenants.filter(suggestions.OPEN), ids, count=Count("id"))
    waiting = Fact.across_tenants.filter(invalidated_because=Fact.Because.WAITING)
    pending = _by_tenant(waiting, ids, count=Count("id"))
    used = key_usage.sum_by_tenant(ids, since=midnight.date())
    last = _find_last_messages(ids)
    rows = [
        Row(
            tenant=tenant,
            last_message=last.get(tenant.id),
            open_jobs=waits.get(tenant.id, {}).get("count", 0),
            oldest=waits.get(tenant.id, {}).get("oldest"),
            dead_jobs=dead.get(tenant.id, {}).get("count", 0),
            spent=spent.get(tenant.id, {}).get("sum", Decimal(0)),
            budget=spending.find_budget(tenant),
            calls=used.get(tenant.id, (0, 0))[0],
            refused=used.get(tenant.id, (0, 0))[1],
            bytes=stored.get(tenant.id, {}).get("bytes", 0),
            bytes_limit=quotas.limits_of(tenant)[0],
            to_decide=sum(rows.get(tenant.id, {}).get("count", 0) for rows in (asked, pending)),
        )
        for tenant in tenants
    ]
    return sorted(rows, key=lambda row: not row.is_troubled)


def _by_tenant(rows: QuerySet[Any], ids: list[UUID], **sums: Any) -> dict[UUID, dict[str, Any]]:
    grouped = rows.filter(tenant_id__in=ids).order_by().values("tenant_id").annotate(**sums)
    return {row["tenant_id"]: row for row in grouped}


def _find_last_messages(ids: list[UUID]) -> dict[UUID, datetime]:
    """Return when each tenant's newest message came: ids are in order of making."""
    newest = Message.across_tenants.filter(tenant_id=OuterRef("pk")).order_by("-id")
    at = Subquery(newest.values("received_at")[:1])
    rows = Tenant.objects.filter(id__in=ids).annotate(at=at).values_list("id", "at")
    return {tenant_id: at for tenant_id, at in rows if at is not None}
