"""How many answers a tenant gets, and how fast they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from memoryproject.tenancy.models import Tenant
from retrieval.statement import read_file


@dataclass(frozen=True, slots=True)
class Pace:
    """Answers of one span of time, and the time that half and 95 % of them kept to.

    The times are None where no answer was measured.
    """

    answers: int
    p50_ms: int | None
    p95_ms: int | None


def measure_pace(
    tenant: Tenant, *, spans: Sequence[tuple[datetime, datetime]], at_most: int
) -> list[Pace]:
    """Return the pace of each span, its end excluded, by its newest `at_most` answers."""
    given: dict[str, Any] = {
        "tenant": tenant.id,
        "starts": [start for start, _ in spans],
        "ends": [end for _, end in spans],
        "at_most": at_most,
    }
    with connection.cursor() as cursor:
        cursor.execute(read_file("pace.sql"), given)
        return [Pace(*row[1:]) for row in cursor.fetchall()]
