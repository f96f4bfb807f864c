"""Counts rows up to a limit, and prints such counts."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db.models import QuerySet


def count_capped(rows: QuerySet[Any]) -> int:
    """Return the number of rows, at most one more than the limit."""
    return rows.order_by()[: settings.COUNTED_AT_MOST + 1].count()


def render_sum(counts: Sequence[int]) -> str:
    """Return the sum of capped counts as text: `12,345`, or `12,345+` for at least that."""
    more = "+" if max(counts, default=0) > settings.COUNTED_AT_MOST else ""
    return f"{sum(cap_counts(counts)):,}{more}"


def cap_counts(counts: Sequence[int]) -> list[int]:
    return [min(count, settings.COUNTED_AT_MOST) for count in counts]
