"""A server of the benchmark's own: web server, worker, database, with the settings as shipped."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.command import tell
from bench.storm import database, services

SERVING_WITHIN_S = 120.0


@dataclass(frozen=True, slots=True)
class Server:
    """Where it is, and how it is reached."""

    data_dir: Path
    environment: Mapping[str, str]
    port: int

    def manage(self, *arguments: str) -> str:
        """Run one of the product's commands and return what it printed."""
        quiet = {**self.environment, "MEMORY_LOG_LEVEL": "WARNING"}
        return database.manage(*arguments, environment=quiet)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Run the worker as it is shipped until the block ends."""
        workers = services.make_workers(self.environment, logs=self.data_dir / "logs")
        with services.kept(workers):
            services.wait_until_serving(workers, port=self.port, within_s=SERVING_WITHIN_S)
            yield


def shipped(data_dir: Path) -> dict[str, str]:
    """Return the environment of a server as it is shipped, whatever is set around us."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in services.FORGOTTEN and not name.startswith("MEMORY_")
    }
    ours = {"MEMORY_DATA_DIR": str(data_dir), "DJANGO_SETTINGS_MODULE": "memoryproject.settings"}
    return kept | ours


@contextmanager
def running(
    data_dir: Path, environment: Mapping[str, str], *, keep: bool = False
) -> Iterator[Server]:
    """Run database and web server until the block ends; the folder goes then, unless kept."""
    server = Server(data_dir, environment, services.find_port())
    logs = data_dir / "logs"
    logs.mkdir(exist_ok=True)
    try:
        tell("Starting the server …")
        database.start(data_dir)
        server.manage("migrate", "--verbosity=0")
        web = services.make_web(environment, port=server.port, logs=logs)
        with services.kept([web]):
            services.wait_until_serving([web], port=server.port, within_s=SERVING_WITHIN_S)
            yield server
    finally:
        database.stop(data_dir)
        if not keep:
            database.remove(data_dir)
