"""Three phases against one fresh server: calm, with a hostile tenant, and calm again."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bench.load import server, traffic
from bench.load.tenants import HEAVY, HOSTILE, PROBE, PROBES_A_SECOND, SMALL, Mix, make_tenants
from bench.load.traffic import Sample
from bench.storm.field import tell

CALM, ATTACK, AFTER = "calm", "hostile", "calm again"
PHASES = (CALM, ATTACK, AFTER)


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read. `rate` is of all small tenants together, in calls a second."""

    seconds: float
    tenants: int
    notes: int
    rate: float
    heavy_rate: float
    seed: int


@dataclass(frozen=True, slots=True)
class Run:
    """What was measured: samples by phase and class of tenants; and on what."""

    about: dict[str, Any]
    samples: dict[str, dict[str, list[Sample]]]


def run(options: Options) -> Run:
    """Start a server, fill it, measure the phases, and leave nothing behind."""
    with server.running() as running:
        shown = running.read_settings()
        tenants = make_tenants(
            lambda name: running.manage("create_api_key", f"--tenant={name}"), small=options.tenants
        )
        mix = Mix(tenants, seed=options.seed)
        tell("Filling it …")
        running.fill(mix.fill(notes=options.notes))
        running.start_workers()
        about = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "cores": os.cpu_count(),
            "load_before": round(os.getloadavg()[0], 1),
            "seconds": options.seconds,
            "small_tenants": options.tenants,
            "notes": options.notes,
            "settings": shown,
        }
        rates = {SMALL: options.rate, HEAVY: options.heavy_rate, PROBE: PROBES_A_SECOND}
        hostile_rate = shown["KEY_RATE"] / 60
        samples, moments = {}, []
        for phase in PHASES:
            tell(f"{options.seconds:.0f} s {phase} …")
            own = rates | ({HOSTILE: hostile_rate} if phase == ATTACK else {})
            schedules = mix.schedule(seconds=options.seconds, rates=own)
            moments.append(time.time())
            samples[phase] = traffic.run_phase(schedules, port=running.port)
        for phase, since, until in zip(PHASES, moments, [*moments[1:], time.time()], strict=True):
            for tenant, jobs in running.read_jobs(since=since, until=until).items():
                samples[phase].setdefault(tenant.split()[0], []).extend(jobs)
        return Run({**about, "rates": rates | {HOSTILE: hostile_rate}}, samples)
