"""Three phases against one fresh server: calm, with a hostile tenant, and calm again."""

from __future__ import annotations

import os
import re
import time
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass
from threading import local
from typing import Any

from bench.command import tell
from bench.load import traffic
from bench.load.tenants import HEAVY, HOSTILE, PROBE, PROBES_A_SECOND, SMALL, Mix, make_tenants
from bench.load.traffic import Call, Sample, ask
from bench.server import Server, running, shipped
from bench.storm import database, services

CALM, ATTACK, AFTER = "calm", "hostile", "calm again"
PHASES = (CALM, ATTACK, AFTER)
CONFIGURATION = database.ROOT / "docs" / "configuration.md"
JOBS = """
SELECT tenant.name, extract(epoch FROM job.created_at)::float8,
    extract(epoch FROM coalesce(job.finished_at, clock_timestamp()) - job.created_at)::float8,
    job.state = 'done'
FROM jobs_job AS job JOIN tenancy_tenant AS tenant ON tenant.id = job.tenant_id
WHERE job.kind IN ('segment', 'flush', 'consolidate') AND job.created_at >= to_timestamp(%s)
ORDER BY job.created_at, job.id
"""
CANCEL_VECTORS = "UPDATE jobs_job SET state = 'cancelled' WHERE kind = 'embed'"
"""Those of large notes take a worker many minutes, and nothing that is measured reads them."""
JOB = "a job, until it is done"


@dataclass(frozen=True, slots=True)
class Run:
    """What was measured: samples by phase and class of tenants; and on what."""

    about: dict[str, Any]
    samples: dict[str, dict[str, list[Sample]]]


def run(options: Namespace) -> Run:
    """Start a server, fill it, measure the phases, and leave nothing behind."""
    folder = database.make_folder(None)
    with running(folder, shipped(folder)) as server:
        settings = read_settings(server)
        tenants = make_tenants(
            lambda name: server.manage("create_api_key", f"--tenant={name}"), small=options.tenants
        )
        mix = Mix(tenants, seed=options.seed)
        tell("Filling it …")
        fill(server, mix.fill(notes=options.notes))
        rates = {SMALL: options.rate, HEAVY: options.heavy_rate, PROBE: PROBES_A_SECOND}
        hostile = {HOSTILE: settings["KEY_RATE"] / 60}
        about = {
            "cores": os.cpu_count(),
            "load_before": round(os.getloadavg()[0], 1),
            **{name: getattr(options, name) for name in ("seconds", "tenants", "notes")},
            "settings": settings,
            "rates": rates | hostile,
        }
        samples, moments = {}, []
        with server.working():
            for phase in PHASES:
                tell(f"{options.seconds:.0f} s {phase} …")
                own = rates | (hostile if phase == ATTACK else {})
                schedules = mix.schedule(seconds=options.seconds, rates=own)
                moments.append(time.time())
                samples[phase] = traffic.run_phase(schedules, port=server.port)
            moments.append(time.time())
            for phase, since, until in zip(PHASES, moments, moments[1:], strict=False):
                for tenant, jobs in read_jobs(server, since=since, until=until).items():
                    samples[phase].setdefault(tenant.split()[0], []).extend(jobs)
        return Run(about, samples)


def fill(server: Server, calls: Iterable[Call]) -> None:
    """Send the calls, and do the work that follows from them.

    Raises:
        RuntimeError: a call was refused.
    """
    own = local()
    for call in calls:
        while (status := ask(own, server.port, call)) == 429:
            time.sleep(1)  # until the tenant's allowance has room for it
        if not 200 <= status < 300:
            raise RuntimeError(f"{call.path} was answered with {status}")
    with database.connect(server.data_dir) as connection:
        connection.execute(CANCEL_VECTORS)
    tell(f"… {server.manage('worker', '--drain')}")


def read_settings(server: Server) -> dict[str, int]:
    """Return those numbers among the settings that an operator may set."""
    named = set(re.findall(r"MEMORY_([A-Z_]+)", CONFIGURATION.read_text(encoding="utf-8")))
    lines = re.findall(r"^([A-Z_]+) = (\d+)\b", server.manage("diffsettings"), re.MULTILINE)
    shown = {name: int(number) for name, number in lines if name in named}
    return {"WEB_WORKERS": services.WEB_WORKERS, **shown}


def read_jobs(server: Server, *, since: float, until: float) -> dict[str, list[Sample]]:
    """Return the jobs created between two moments, in seconds since 1970, by tenant.

    What was not done when this was called counts as not answered.
    """
    jobs: dict[str, list[Sample]] = {}
    with database.connect(server.data_dir) as connection:
        for tenant, created_at, took_s, is_done in connection.execute(JOBS, [since]):
            if created_at < until:
                sample = Sample(JOB, created_at - since, took_s, 200 if is_done else 0)
                jobs.setdefault(tenant, []).append(sample)
    return jobs
