"""A fresh server in a folder that is thrown away: web server, worker, database."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import local

from bench.load.traffic import Call, Sample, ask
from bench.storm import database, services
from bench.storm.field import tell
from bench.storm.options import read_options

SERVING_WITHIN_S = 120.0
FILLERS = 2
"""As many of one tenant as are answered at once: nobody is refused."""
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
class Server:
    """Its processes, and how they are reached."""

    data_dir: Path
    environment: dict[str, str]
    port: int
    open: ExitStack = field(default_factory=ExitStack)

    def manage(self, *arguments: str) -> str:
        """Run one of the product's commands and return what it printed."""
        quiet = self.environment | {"MEMORY_LOG_LEVEL": "WARNING"}
        return database.manage(*arguments, environment=quiet)

    def fill(self, calls: Iterable[Call]) -> None:
        """Send the calls, and do the work that follows from them.

        Raises:
            RuntimeError: a call was refused.
        """
        own = local()

        def send(call: Call) -> int:
            """Send it again until the tenant's allowance has room for it."""
            while (status := ask(own, self.port, call)) == 429:
                time.sleep(1)
            return status

        with ThreadPoolExecutor(FILLERS) as threads:
            for call, status in threads.map(lambda call: (call, send(call)), calls):
                if not 200 <= status < 300:
                    raise RuntimeError(f"{call.path} was answered with {status}")
        with database.connect(self.data_dir) as connection:
            connection.execute(CANCEL_VECTORS)
        tell(f"… {self.manage('drain_jobs')}")

    def start_workers(self) -> None:
        """Start the worker as it is shipped; it ends with the server."""
        workers = services.make_workers(
            read_options(["--supervisors=1"]), self.environment, logs=self.data_dir / "logs"
        )
        self.open.enter_context(services.kept(workers))
        services.wait_until_serving(workers, port=self.port, within_s=SERVING_WITHIN_S)

    def read_settings(self) -> dict[str, int]:
        """Return those numbers among the settings that an operator may set."""
        named = set(re.findall(r"MEMORY_([A-Z_]+)", CONFIGURATION.read_text(encoding="utf-8")))
        lines = re.findall(r"^([A-Z_]+) = (\d+)\b", self.manage("diffsettings"), re.MULTILINE)
        shown = {name: int(number) for name, number in lines if name in named}
        return {"WEB_WORKERS": services.WEB_WORKERS, **shown}

    def read_jobs(self, *, since: float, until: float) -> dict[str, list[Sample]]:
        """Return the jobs created between two moments, in seconds since 1970, by tenant.

        What was not done when this was called counts as not answered.
        """
        jobs: dict[str, list[Sample]] = {}
        with database.connect(self.data_dir) as connection:
            for tenant, created_at, took_s, is_done in connection.execute(JOBS, [since]):
                if created_at < until:
                    sample = Sample(JOB, created_at - since, took_s, 200 if is_done else 0)
                    jobs.setdefault(tenant, []).append(sample)
        return jobs


@contextmanager
def running() -> Iterator[Server]:
    """Run the web server on an empty database until the block ends; its folder goes then."""
    data_dir = database.make_folder(None)
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in services.FORGOTTEN and not name.startswith("MEMORY_")  # as shipped
    } | {"MEMORY_DATA_DIR": str(data_dir), "DJANGO_SETTINGS_MODULE": "memoryproject.settings"}
    server = Server(data_dir, environment, services.find_port())
    logs = data_dir / "logs"
    logs.mkdir()
    try:
        tell("Making the database …")
        database.start(data_dir)
        server.manage("migrate", "--verbosity=0")
        web = services.make_web(environment, port=server.port, logs=logs)
        with services.kept([web]), server.open:
            services.wait_until_serving([web], port=server.port, within_s=SERVING_WITHIN_S)
            yield server
    finally:
        database.stop(data_dir)
        database.remove(data_dir)
