"""Compares the stored sizes of tenants, which triggers maintain, with the rows themselves.

A wrong count is repaired by adding the difference, and logged. Writers need not wait: their rows
and counts are committed together.
"""

import logging
import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, F, Func, IntegerField, Subquery, Sum, TextField
from django.db.models.functions import Cast, Coalesce

from episodic.models import Message
from memoryproject.database.clock import read_database_clock
from memoryproject.tenancy import installation
from memoryproject.tenancy.models import StoredSize, Tenant, TenantModel
from memoryproject.tenancy.walls import across_tenants
from wings.notes.models import Note, NoteVersion

logger = logging.getLogger("memory.stored")

_NOTE = ("label", "description", "content", "excerpt", "metadata")
COUNTED: dict[type[TenantModel], Sequence[str]] = {
    Message: ("content", "metadata"),
    Note: _NOTE,
    NoteVersion: _NOTE,
}
"""Columns of each table whose bytes its trigger counts (`CountStored` in the migrations)."""
CHECKED = "stored sizes checked"
"""Name of the note with the end of the last round of checks, or the tenant that was checked
last."""
ROUND_S = 1.0
"""Seconds for which the reconciler checks tenants before it continues with other work."""


class Drift(NamedTuple):
    """How much more a tenant stores than its counts say; negative: less."""

    rows: int
    bytes: int


def find_drift(tenant_id: uuid.UUID, *, using: str = "default") -> Drift:
    """Return how far the stored counts differ from the tables; one statement reads both at once."""
    tenant = Tenant.objects.using(using).filter(id=tenant_id)
    actual = [_measure(model, columns, tenant_id) for model, columns in COUNTED.items()]
    counted = _sum(StoredSize, tenant_id, rows=Sum("row_count"), bytes=Sum("byte_count"))
    rows, stored_bytes = (
        sum((part[name] for part in actual), start=-counted[name]) for name in ("rows", "bytes")
    )
    found = tenant.values_list(rows, stored_bytes).first()
    return Drift(*map(int, found)) if found else Drift(0, 0)


def _measure(model: type[TenantModel], columns: Sequence[str], tenant_id: uuid.UUID) -> Any:
    sizes = [
        Func(Cast(F(name), TextField()), function="octet_length", output_field=IntegerField())
        for name in columns
    ]
    return _sum(model, tenant_id, rows=Count("id"), bytes=Sum(sum(sizes[1:], start=sizes[0])))


def _sum(model: type[TenantModel], tenant_id: uuid.UUID, **sums: Any) -> dict[str, Coalesce]:
    """Return the sums over a tenant's rows as parts of a statement."""
    rows = model.across_tenants.filter(tenant_id=tenant_id).order_by().values("tenant_id")
    return {
        name: Coalesce(Subquery(rows.annotate(sum=one).values("sum")), 0)
        for name, one in sums.items()
    }


def repair(tenant_id: uuid.UUID, *, using: str = "default") -> Drift:
    """Add the drift to a tenant's counts, and log it; return it."""
    drift = find_drift(tenant_id, using=using)
    if drift != (0, 0):
        StoredSize.across_tenants.using(using).create(
            tenant_id=tenant_id, row_count=drift.rows, byte_count=drift.bytes
        )
        logger.warning(
            "counts of tenant %s lacked %d rows and %d bytes; repaired", tenant_id, *drift
        )
    return drift


def repair_all(*, using: str) -> None:
    """Repair the counts of all tenants."""
    with across_tenants(), transaction.atomic(using=using):
        for tenant_id in Tenant.objects.using(using).order_by("id").values_list("id", flat=True):
            repair(tenant_id, using=using)


def check_nightly(*, at_most: int) -> None:
    """Repair the counts of some tenants, so that each is checked once a day (UTC).

    Called repeatedly, for `at_most` tenants and about a second each time.
    """
    noted = installation.find_note(CHECKED)
    now = read_database_clock()
    last = noted.value if noted else ""
    if noted and not last and _is_same_day(noted.at, now):
        return
    later = Tenant.objects.filter(id__gt=last) if last else Tenant.objects.all()
    until = time.monotonic() + ROUND_S
    for tenant_id in list(later.order_by("id").values_list("id", flat=True)[:at_most]):
        repair(tenant_id)
        last = str(tenant_id)
        if time.monotonic() > until:
            break
    else:
        last = last if later.filter(id__gt=last or uuid.UUID(int=0)).exists() else ""
    installation.write_note(CHECKED, last)


def _is_same_day(one: datetime, other: datetime) -> bool:
    return one.astimezone(UTC).date() == other.astimezone(UTC).date()
