"""Measures the memory of `make run` at rest and after mixed calls: `python -m bench.memory`.

What counts is the proportional share (PSS) of each process, PostgreSQL's among them: a page that
several share counts once. Linux only. Settings are those of the environment; the language model
is the offline engine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from bench.load.traffic import Call, ask
from bench.storm import database
from bench.storm.services import find_port
from bench.tables import render_table
from memoryproject import embedded

CLIENTS = 4
CALLS = 1_000
FIRST_CALLS = 40
READY_WITHIN_S = 180.0
SETTLES_S = 15.0
"""For the jobs that follow from the last calls, before each look."""
SEED = 8
NAMES = ("Ana", "Bo", "Cleo", "Dario", "Emeka", "Fatima")
PLACES = ("Lisbon", "Porto", "Lyon", "Kyoto", "Accra", "Oslo", "Quito")
THINGS = ("a nurse", "a baker", "a pilot", "a violin", "a garden", "a peanut allergy", "a bicycle")
HEADER = ["", "MB", "of these PostgreSQL", "processes"]


def run() -> None:
    """Start a server, call it, and print a line for each moment."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS, help="at the end; 1,000")
    parser.add_argument("--settle", type=float, default=SETTLES_S, metavar="S", help="before each")
    given = parser.parse_args()
    folder = database.make_folder(None)
    rows = []
    with _serve(folder) as (server, port):
        key = (folder / "api_key").read_text(encoding="utf-8").strip()
        calls = _draw_calls(random.Random(SEED), key)
        for count in (0, FIRST_CALLS, given.calls):
            _send([next(calls) for _ in range(count)], port)
            time.sleep(given.settle)
            name = f"after {count:,} more calls" if count else "at rest"
            rows.append([name, *_measure(server, folder)])
    sys.stdout.write(render_table(HEADER, rows) + "\n")


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


def _draw_calls(chance: random.Random, key: str) -> Iterator[Call]:
    """Yield calls of twelve conversations without end: two in five store, two in five retrieve."""
    talks = [str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(12)]
    kinds = ["add_messages"] * 8 + ["retrieve_memory"] * 8 + ["search"] * 2 + ["flush", "messages"]
    for number in range(sys.maxsize):
        kind, talk = chance.choice(kinds), chance.choice(talks)
        query = f"Where does {chance.choice(NAMES)} live with {chance.choice(THINGS)} {number}?"
        said = [{"role": "user", "name": chance.choice(NAMES), "content": _draw_text(chance)}]
        body: dict[str, object] = {"conversation_id": talk}
        if kind == "add_messages":
            body |= {"messages": [*said, {"role": "assistant", "content": "Noted."}]}
        elif kind in {"retrieve_memory", "search"}:
            body |= {"query": query}
        if kind == "retrieve_memory" and number % 2:
            body |= {"max_tokens": 500}
        if kind == "messages":
            yield Call(kind, "GET", f"messages?conversation_id={talk}", key)
        else:
            yield Call(kind, "POST", kind, key, json.dumps(body).encode())


def _draw_text(chance: random.Random) -> str:
    return " ".join(
        f"{chance.choice(NAMES)} moved to {chance.choice(PLACES)} with {chance.choice(THINGS)}."
        for _ in range(chance.randint(1, 6))
    )


def _send(calls: list[Call], port: int) -> None:
    """Send the calls from four clients; a flush before the first message is refused, and counts."""
    own = threading.local()
    with ThreadPoolExecutor(CLIENTS) as clients:
        statuses = list(clients.map(lambda call: ask(own, port, call), calls))
    if 0 in statuses or any(status >= 500 for status in statuses):
        sys.exit("A call failed.")


def _measure(server: int, folder: Path) -> tuple[str, str, str]:
    """Return the shares of all processes, those of PostgreSQL alone, and how many there are."""
    postgres = _find_tree(embedded.find_running(folder) or 0)
    processes = _find_tree(server) + postgres
    total, stored = (sum(map(_read_share_mb, tree)) for tree in (processes, postgres))
    return f"{total:.0f}", f"{stored:.0f}", str(len(processes))


def _find_tree(root: int) -> list[int]:
    """Return a process and all below it."""
    tree = [root]
    for pid in tree:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            tree += map(int, task.read_text().split())
    return tree


def _read_share_mb(pid: int) -> float:
    """Return a process's share; 0 of one that has ended meanwhile."""
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(int(row.split()[1]) for row in rows if row.startswith("Pss:")) * 1024 / 1e6
