"""Quotas of a tenant: rows and bytes of its messages and notes."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from django.conf import settings
from django.core.cache import cache
from django.db.models import NOT_PROVIDED, Sum

from memoryproject.edge.errors import OverQuota, Problem
from memoryproject.tenancy.models import StoredSize, Tenant

BYTES, ROWS = "quota_bytes", "quota_rows"
"""Keys of a tenant's settings: whole numbers, 0 for no limit."""
QUOTA_AT_MOST = 2**60
FAR_BYTES, FAR_ROWS, FAR_S = 2 * 1024**3, 1_000_000, 1.0
"""A tenant with this much room left, more than can arrive in FAR_S seconds, is not measured again
until then."""


class Storage(NamedTuple):
    bytes: int
    bytes_limit: int | None
    rows: int
    rows_limit: int | None


def measure_storage(tenant: Tenant) -> Storage:
    """Return what a tenant stores, as committed so far, and its limits.

    Wrong counts are repaired at night; one below zero is shown as zero.
    """
    parts = StoredSize.objects.of(tenant)
    stored = parts.aggregate(bytes=Sum("byte_count", default=0), rows=Sum("row_count", default=0))
    at_least_0 = {name: max(count, 0) for name, count in stored.items()}
    bytes_limit, rows_limit = limits_of(tenant)
    return Storage(**at_least_0, bytes_limit=bytes_limit, rows_limit=rows_limit)


def limits_of(tenant: Tenant) -> tuple[int | None, int | None]:
    """Return the limits of bytes and rows of a tenant; None: no limit."""
    own = tenant.settings
    return (
        own.get(BYTES, settings.TENANT_BYTES) or None,
        own.get(ROWS, settings.TENANT_ROWS) or None,
    )


def check_quota(tenant: Tenant, *, more_rows: int, more_bytes: int) -> None:
    """Check that a tenant may store this much more.

    It locks nothing, so writes at the same moment may use the same room. A tenant far below its
    quota is not checked again for some seconds.

    Raises:
        OverQuota: it may not; the message has the size and the limit.
    """
    far = f"tenancy:far-from-quota:{tenant.id}"
    if not any(limits_of(tenant)) or cache.get(far) == limits_of(tenant):
        return
    now = measure_storage(tenant)
    if now.bytes <= (now.bytes_limit or math.inf) - FAR_BYTES and (
        now.rows <= (now.rows_limit or math.inf) - FAR_ROWS
    ):
        cache.set(far, limits_of(tenant), FAR_S)
    for what, stored, more, limit in (
        ("bytes", now.bytes, more_bytes, now.bytes_limit),
        ("messages and notes", now.rows, more_rows, now.rows_limit),
    ):
        if limit is not None and stored + more > limit:
            raise OverQuota(
                f"This tenant stores {stored} {what}, and may store {limit}; this would be {more}"
                " more. There is room again when something is erased."
            )


def set_quota(tenant: Tenant, quota: Mapping[str, int | None]) -> None:
    """Set a tenant's own limits by name (`BYTES`, `ROWS`); 0: none, None: the server's.

    Raises:
        Problem: one is invalid; nothing was changed.
    """
    if any(limit is not None and not 0 <= limit <= QUOTA_AT_MOST for limit in quota.values()):
        raise Problem(f"A quota is from 0 to {QUOTA_AT_MOST}; 0: no limit.")
    for name, limit in quota.items():
        tenant.change_setting(name, NOT_PROVIDED if limit is None else limit)


def describe_quota(tenant: Tenant) -> str:
    own = tenant.settings
    return ", ".join(
        f"{what}: {limit or 'no limit'}{'' if name in own else ' (the server’s)'}"
        for name, what, limit in zip(
            (BYTES, ROWS), ("bytes", "messages and notes"), limits_of(tenant), strict=True
        )
    )
