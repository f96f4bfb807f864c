"""Measures what a claim costs while many jobs wait: `python -m bench.claims`.

Fills the table of jobs on a database of its own, which is thrown away. Then connections, as
many as there would be workers, claim a job, hold it as long as work takes, finish it and queue
another: so that as many wait all the time.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import django

from bench.retrieval.quantiles import summarise
from bench.storm import database
from bench.storm.field import tell
from bench.tables import render_table

PROCESSES = 5
"""The connections are threads of so many: one process alone would wait for itself."""
TENANTS = """
INSERT INTO tenancy_tenant (id, name, settings, created_at)
SELECT gen_random_uuid(), 'tenant ' || number, '{}', now() FROM generate_series(1, %s) AS number
"""
JOBS = """
INSERT INTO jobs_job (id, tenant_id, kind, scope, input, state, attempts, transient_failures,
    error_class, result, run_after, created_at)
SELECT gen_random_uuid(), tenant.id, 'embed', gen_random_uuid(), '{}', 'ready', 0, 0, '', '{}',
    now() - interval '1 hour' * random(), now() - interval '1 hour'
FROM generate_series(1, %(jobs)s) AS number
JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place FROM tenancy_tenant) AS tenant
    ON tenant.place = 1 + floor(%(tenants)s * power(number / (%(jobs)s + 1.0), 3))
"""
"""The cube makes tenants unequal: the first of a thousand has a tenth of all jobs."""
HEADER = [
    "waiting jobs", "claims", "a second", "without one", "p50 ms", "p95 ms", "p99 ms",
    "reconciler ms", "health ms",
]  # fmt: skip


def main() -> None:
    """Measure each size and print a line of figures for it."""
    parser = argparse.ArgumentParser(prog="python -m bench.claims", description=__doc__)
    add = parser.add_argument
    add("--sizes", type=int, nargs="+", default=[1_000, 100_000, 1_000_000], metavar="JOBS")
    add("--tenants", type=int, default=1_000)
    add("--connections", type=int, default=50)
    add("--hold", type=float, default=1.0, metavar="S", help="how long a job is held; 1")
    add("--seconds", type=float, default=25.0, help="of claiming, at each size; 25")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # nothing must outlive us
    data_dir = database.make_folder(None)
    os.environ |= {
        "MEMORY_DATA_DIR": str(data_dir),
        "MEMORY_LOG_LEVEL": "ERROR",
        "DJANGO_SETTINGS_MODULE": "memoryproject.settings",
    }
    os.environ.pop("DATABASE_URL", None)
    try:
        database.start(data_dir)
        database.manage("migrate", "--verbosity=0", environment=os.environ)
        django.setup()
        rows = [
            [f"{size:,}", *_measure(data_dir, size, given)] for size in sorted(set(given.sizes))
        ]
    finally:
        database.stop(data_dir)
        database.remove(data_dir)
    sys.stdout.write(render_table(HEADER, rows) + "\n")


def _measure(data_dir: Path, size: int, given: argparse.Namespace) -> list[object]:
    with database.connect(data_dir) as connection:
        connection.execute("TRUNCATE tenancy_tenant, django_q_ormq CASCADE")
        connection.execute("SET session_replication_role = replica")
        connection.execute(TENANTS, [given.tenants])
        connection.execute(JOBS, {"jobs": size, "tenants": given.tenants})
        connection.execute("VACUUM (ANALYZE) jobs_job")
    worker = import_module("bench.claims.worker")  # it needs a Django that is set up
    tell(f"{size:,} jobs wait …")
    share = partial(worker.work, seconds=given.seconds, hold_s=given.hold)
    threads = [given.connections // PROCESSES] * PROCESSES
    with ProcessPoolExecutor(
        PROCESSES, mp_context=get_context("spawn"), initializer=django.setup
    ) as pool:
        figures = list(pool.map(share, threads, range(PROCESSES)))
        looks = pool.submit(worker.time_looks).result()
    found = summarise([second for claims, _ in figures for second in claims])
    missed = sum(empty for _, empty in figures)
    pace = found.count / given.seconds
    times = [found.p50, found.p95, found.p99, *looks]
    return [found.count, f"{pace:.0f}", missed, *(f"{value:.1f}" for value in times)]


if __name__ == "__main__":
    main()
