"""Measure instead the memory of `make run`, at rest and after so many mixed calls; Linux only."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from bench.load.tenants import HEAVY, Mix, make_tenants
from bench.load.traffic import Call, ask
from bench.storm import database
from bench.storm.processes import Process, list_tree, look_up
from bench.storm.services import find_port
from memoryproject import embedded

CLIENTS = 4
FIRST_CALLS = 40
READY_WITHIN_S = 180.0

HEADER = ["", "MB", "of these PostgreSQL", "processes"]
Row = tuple[str, int, int, int]
"""A moment, MB of all processes, MB of PostgreSQL among them, and how many processes."""


def measure(*, calls: int, settle_s: float, seed: int) -> Iterator[Row]:
    """Start a server, call it, and yield a row for each moment."""
    folder = database.make_folder(None)
    with _serve(folder) as (process, port):
        key = (folder / "api_key").read_text(encoding="utf-8").strip()
        drawn = iter(_draw_calls(key, count=FIRST_CALLS + calls, seed=seed))
        for count in (0, FIRST_CALLS, calls):
            _send(list(islice(drawn, count)), port)
            time.sleep(settle_s)
            name = f"after {count:,} more calls" if count else "at rest"
            yield name, *_look(process, folder)


@contextmanager
def _serve(folder: Path) -> Iterator[tuple[int, int]]:
    """Run a server as `make run` does; yield its process id and its port once it is ready."""
    database.copy_template(folder)
    port, log = find_port(), folder / "run.log"
    environment = os.environ | {
        "MEMORY_DATA_DIR": str(folder),
        "MEMORY_LLM": "offline",
        "MEMORY_LOG_LEVEL": "INFO",  # which says when it is ready
        "PORT": str(port),
    }
    with log.open("wb") as out:
        command = [*database.MANAGE, "run"]
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
    try:
        until = time.monotonic() + READY_WITHIN_S
        while "Ready." not in log.read_text(encoding="utf-8"):
            if process.poll() is not None or time.monotonic() > until:
                sys.exit(f"The server does not start: {log.read_text(encoding='utf-8')[-500:]}")
            time.sleep(0.5)
        yield process.pid, port
    finally:
        process.terminate()
        process.wait()
        database.stop(folder)
        database.remove(folder)


def _draw_calls(key: str, *, count: int, seed: int) -> list[Call]:
    """Return calls of a busy tenant: three times a question for one batch of messages."""
    mix = Mix(make_tenants(lambda name: key, small=1), seed=seed)
    return [call for _, call in mix.schedule(seconds=count, rates={HEAVY: 2})[HEAVY]][:count]


def _send(calls: list[Call], port: int) -> None:
    """Send the calls from four clients."""
    own = threading.local()
    with ThreadPoolExecutor(CLIENTS) as clients:
        statuses = list(clients.map(lambda call: ask(own, port, call), calls))
    if 0 in statuses or any(status >= 500 for status in statuses):
        sys.exit("A call failed.")


def _look(pid: int, folder: Path) -> tuple[int, int, int]:
    """Return the memory of all processes, that of PostgreSQL alone, and how many there are."""
    postgres = list(list_tree(look_up(embedded.find_running(folder) or 0)))
    processes = [*list_tree(look_up(pid)), *postgres]
    total, stored = (round(sum(map(_read_share_mb, tree))) for tree in (processes, postgres))
    return total, stored, len(processes)


def _read_share_mb(process: Process) -> float:
    """Return the proportional share (PSS): a page that several share counts once."""
    try:
        rows = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0  # it has ended meanwhile
    return sum(int(row.split()[1]) for row in rows if row.startswith("Pss:")) * 1024 / 1e6
