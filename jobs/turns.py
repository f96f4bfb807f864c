"""Finds the job whose turn it is: tenants take turns, and what somebody waits for comes first."""

import uuid
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from jobs.flows import get_flow
from jobs.models import INTERACTIVE, Kind, State
from memoryproject.database.clock import execute, read_sql

KINDS = ", ".join(f"'{kind.value}'" for kind in INTERACTIVE)
THAT_ARE_INTERACTIVE = f"AND job.kind IN ({KINDS})"


def is_due() -> Q:
    """Return the condition under which a job may be claimed, by the database's clock."""
    return Q(state=State.READY, run_after__lte=Now()) | Q(
        state=State.RUNNING, lease_until__lt=Now()
    )


def find_free(job_id: uuid.UUID) -> uuid.UUID | None:
    """Return the id and lock the row if the job may be claimed, however many its tenant runs."""
    return _find("AND job.id = %(job_id)s", job_id=job_id, cap=0)


def find_next(*, interactive: bool) -> uuid.UUID | None:
    """Return the id of the job to claim next and lock its row; None where there is none.

    With `interactive` only those that somebody waits for count. A tenant that runs as many
    jobs as it may is passed over; two that claim at the same moment may make it one more.
    """
    return _find(THAT_ARE_INTERACTIVE if interactive else "", cap=settings.TENANT_JOBS)


def _find(only: str, **params: Any) -> uuid.UUID | None:
    # Each kind with one that it waits for.
    pairs = [f"{kind.value} {other.value}" for kind in Kind for other in get_flow(kind).waits_for]
    rows = execute(read_statement(only), {"pairs": pairs, **params})
    return rows[0][0] if rows else None


def read_statement(only: str) -> str:
    """Return the text of `sql/next_job.sql` for all jobs, or only those that a condition names."""
    return read_sql(__file__, "next_job.sql").replace("{only}", only)
