"""Finds the next job: tenants take turns, and interactive jobs come first.

A cluster has one reserve worker more than `MEMORY_WORKERS`: no tenant ever holds all workers, and
the last free one takes only interactive jobs.
"""

import uuid
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from django.conf import settings
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL

from jobs.flows import get_flow
from jobs.models import AT_WORK, INTERACTIVE, Job, Kind
from memoryproject.database.clock import execute, read_sql

MAY_BE_CLAIMED = """
    jobs_job.state IN ('ready', 'running')
    AND COALESCE(jobs_job.lease_until, jobs_job.run_after) <= statement_timestamp()
    AND NOT EXISTS (
        SELECT 1 FROM jobs_job held
        WHERE held.state = 'running' AND held.tenant_id = jobs_job.tenant_id
            AND held.scope = jobs_job.scope AND held.id <> jobs_job.id
            AND (
                held.kind = jobs_job.kind
                OR held.error_class = '' AND held.lease_until > statement_timestamp()
                    AND jobs_job.kind || ' ' || held.kind IN ({pairs})
            )
    )
    AND (
        jobs_job.lane IS NULL OR NOT EXISTS (
            SELECT 1 FROM jobs_job ahead
            WHERE ahead.state = 'running' AND ahead.tenant_id = jobs_job.tenant_id
                AND ahead.lane = jobs_job.lane AND ahead.id <> jobs_job.id
                AND ahead.error_class = '' AND ahead.lease_until > statement_timestamp()
        )
    )
"""
"""The condition under which a job may be claimed, whatever the turns.

`pairs` are kinds, each with one that it waits for. At most one job of a kind and scope runs, and
one of a lane. Nothing waits for a job whose lease has ended: otherwise a flush and a segmentation
whose workers died would wait for each other forever.
"""
ONE_AFTER_THE_OTHER = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
"""Lock of a cluster, or of a lane: claims at the same moment would not see each other."""


def wait_for_lane(job_id: uuid.UUID) -> bool:
    """Lock the lane of a job that was just found until the claim ends; return whether it is free.

    Claims of one lane at the same moment do not see each other, so the second looks again.
    """
    lane = Job.across_tenants.values_list("lane", flat=True).get(id=job_id)
    if lane is None:
        return True
    execute(ONE_AFTER_THE_OTHER, [str(lane)])
    return find_free(job_id) is not None


def may_be_claimed() -> RawSQL:
    """Return the condition under which a job may be claimed, by the database's clock."""
    return RawSQL(_write_condition(), (), BooleanField())  # noqa: S611


def find_free(job_id: uuid.UUID) -> uuid.UUID | None:
    """Return the id and lock the row if the job may be claimed; a tenant's cap is ignored."""
    return _find("AND jobs_job.id = %(job_id)s", job_id=job_id, cap=0)


def find_next(*, in_order: bool, cluster: uuid.UUID | None) -> uuid.UUID | None:
    """Return the id of the next job and lock its row; None if there is none.

    Interactive jobs come first, unless `in_order`. `cluster` is the worker's own: the jobs its
    other workers hold decide what this one may take; None: a single process, which may take
    anything. A tenant with `MEMORY_TENANT_JOBS` running jobs is skipped; two clusters that claim at
    the same moment may exceed that by one.
    """
    held = _list_held(cluster) if cluster else []
    tenants = Counter(tenant for tenant, _ in held)
    full_tenants = [tenant for tenant, count in tenants.items() if count >= settings.WORKERS]
    kinds = Counter(kind for _, kind in held)
    for condition in _rank_conditions(kinds, in_order=in_order):
        job_id = _find(condition, cap=settings.TENANT_JOBS, full_tenants=full_tenants)
        if job_id is not None:
            return job_id
    return None


def _list_held(cluster: uuid.UUID) -> list[tuple[uuid.UUID, str]]:
    """Return tenant and kind of each running job of a cluster.

    Uses index: jobs_job_by_holder.
    """
    execute(ONE_AFTER_THE_OTHER, [str(cluster)])
    rows = Job.across_tenants.filter(AT_WORK, holder=cluster)
    return list(rows.order_by().values_list("tenant_id", "kind"))


def _rank_conditions(held: Counter[str], *, in_order: bool) -> Iterator[str]:
    """Yield conditions on jobs, in the order in which to search for them.

    Among interactive jobs, a kind that holds all workers but one comes after the others.
    """
    full = [kind for kind in INTERACTIVE if held[kind] >= settings.WORKERS]
    if full:
        yield _of_kinds([kind for kind in INTERACTIVE if kind not in full])
    is_last = held.total() >= settings.WORKERS
    if is_last or not in_order:
        yield THAT_ARE_INTERACTIVE
    if not is_last:
        yield ""


def _of_kinds(kinds: Collection[str]) -> str:
    names = ", ".join(f"'{Kind(kind).value}'" for kind in kinds)
    return f"AND jobs_job.kind IN ({names})" if names else "AND false"


THAT_ARE_INTERACTIVE = _of_kinds(INTERACTIVE)


def _find(only: str, full_tenants: Collection[uuid.UUID] = (), **params: Any) -> uuid.UUID | None:
    rows = execute(read_statement(only), {"full_tenants": list(full_tenants), **params})
    return rows[0][0] if rows else None


def read_statement(only: str) -> str:
    """Return `sql/next_job.sql`, for all jobs or for those that a condition selects."""
    text = read_sql(__file__, "next_job.sql").replace("{may_be_claimed}", _write_condition())
    return text.replace("{only}", only)


def _write_condition() -> str:
    pairs = [f"'{kind} {other}'" for kind in Kind for other in get_flow(kind).waits_for]
    return MAY_BE_CLAIMED.format(pairs=", ".join(pairs))
