"""The product on an empty database of its own: web server, worker, and a key to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.storm import database, services
from bench.storm.client import HOST
from bench.storm.options import read_options

SERVING_WITHIN_S = 120.0


@dataclass(frozen=True, slots=True)
class Server:
    """Where it answers, to whom, and where its processes write."""

    origin: str
    key: str
    logs: Path


@contextmanager
def running() -> Iterator[Server]:
    """Run the product, with the demo's conversation in it, until the block ends."""
    data_dir = database.make_folder(None)
    try:
        yield from _serve(data_dir)
    finally:
        database.stop(data_dir)
        database.remove(data_dir)


def _serve(data_dir: Path) -> Iterator[Server]:
    logs = data_dir / "logs"
    logs.mkdir()
    options = read_options(["--supervisors=1", "--workers=1"])
    environment, _ = services.make_environment(options, data_dir)
    environment |= {"MEMORY_LOG_LEVEL": "ERROR"}
    database.start(data_dir)
    database.manage("migrate", "--verbosity=0", environment=environment)
    database.manage("seed_demo", environment=environment)
    key = (data_dir / "api_key").read_text(encoding="utf-8").strip()
    port = services.find_port()
    parts = [
        services.make_web(environment, port=port, logs=logs),
        *services.make_workers(options, environment, logs=logs),
    ]
    with services.kept(parts):
        services.wait_until_serving(parts, port=port, within_s=SERVING_WITHIN_S)
        yield Server(f"http://{HOST}:{port}", key, logs)
