"""Finds the job whose turn it is: tenants take turns, and what somebody waits for comes first."""

import uuid
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from jobs.flows import get_flow
from jobs.models import INTERACTIVE, Job, Kind, State
from memoryproject.database.clock import execute


def is_due() -> Q:
    """Return the condition under which a job may be claimed, by the database's clock."""
    return Q(state=State.READY, run_after__lte=Now()) | Q(
        state=State.RUNNING, lease_until__lt=Now()
    )


def find_free(job_id: uuid.UUID) -> uuid.UUID | None:
    """Return the id and lock the row if the job may be claimed."""
    row = Job.across_tenants.filter(is_due(), id=job_id)
    job = row.select_for_update(skip_locked=True).select_related(None).first()
    return None if job is None or _scope_is_held(job) else job.id


def _scope_is_held(job: Job) -> bool:
    kinds = get_flow(job.kind).waits_for
    same_work = Q(kind__in=kinds, error_class="", lease_until__gt=Now())
    running = Job.objects.of(job.tenant).filter(scope=job.scope, state=State.RUNNING)
    return running.filter(same_work | Q(kind=job.kind)).exclude(id=job.id).exists()


def find_next(*, interactive: bool) -> uuid.UUID | None:
    """Return the id of the job to claim next and lock its row; None where there is none.

    With `interactive` only those that somebody waits for count. A tenant that runs as many
    jobs as it may is passed over; two that claim at the same moment may make it one more.
    """
    params = {"pairs": _list_pairs(), "cap": settings.TENANT_JOBS}
    rows = execute(read_statement(interactive=interactive), params)
    return rows[0][0] if rows else None


@cache
def read_statement(*, interactive: bool) -> str:
    """Return the text of `sql/next_job.sql` for all kinds, or for those that are interactive."""
    text = (Path(__file__).parent / "sql" / "next_job.sql").read_text(encoding="utf-8")
    kinds = ", ".join(f"'{kind.value}'" for kind in INTERACTIVE)
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return "\n".join(lines).replace("{only}", f"AND job.kind IN ({kinds})" if interactive else "")


def _list_pairs() -> list[str]:
    """Return each kind with one that it waits for, apart by a space."""
    return [f"{kind.value} {other.value}" for kind in Kind for other in get_flow(kind).waits_for]
