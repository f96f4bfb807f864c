"""Measures what a message and an answer cost in processor time and on the disk."""

from __future__ import annotations

import os
import resource
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from bench import english
from bench.command import tell
from bench.server import Server, running, shipped
from bench.storm import database
from bench.storm.client import Client
from bench.storm.processes import PROC, Process, find_marked, list_tree, look_up
from memoryproject import embedded

SINGLE_MESSAGES = 200
BATCH = 100
QUESTIONS = 40
A_SECOND = 50
"""Calls; a key may send 100 as shipped."""
TICKS = os.sysconf("SC_CLK_TCK")
OWN, CHILDREN = slice(11, 13), slice(13, 15)
"""Places of processor time among the fields behind the name, in /proc/PID/stat."""
UNITS = "SELECT count(*) FROM indexing_searchunit"
SIZE = "SELECT pg_database_size(current_database())"


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor seconds of one operation: of our processes, and of the database's."""

    ours_s: float
    database_s: float

    def since(self, before: Cost, *, operations: int) -> Cost:
        """Return what each of so many operations cost, of two looks at the clocks."""
        ours_s, database_s = self.ours_s - before.ours_s, self.database_s - before.database_s
        return Cost(ours_s / operations, database_s / operations)


@dataclass(frozen=True, slots=True)
class Costs:
    """What was measured. `answers`: by search units in the conversation, the fewest first."""

    message: Cost
    """Posting one."""
    pipeline: Cost
    """Making episodes and facts, for each message."""
    answers: dict[int, Cost]
    bytes_a_message: float
    units_a_message: float


def measure(sizes: Sequence[int], *, seed: int) -> Costs:
    """Measure on a server of its own, with conversations of `sizes` messages; it is thrown away."""
    folder = database.make_folder(None)
    with running(folder, shipped(folder)) as server:
        key = server.manage("create_api_key", "--tenant=scale")
        client = Client(port=server.port, key=key)
        empty, stored = _read_number(server, SIZE), sum(sizes) + 2 * SINGLE_MESSAGES
        starting = _spend(lambda: server.manage("worker", "--drain"))
        tell("Posting messages one by one …")
        names = {size: str(uuid.uuid4()) for size in sorted(sizes)}
        single = str(uuid.uuid4())
        alone = [
            {"conversation_id": single, "message": one}
            for one in english.make_talk(seed=seed, messages=2 * SINGLE_MESSAGES)
        ]
        message = _count(server, client, "add_message", alone)
        for size, name in names.items():
            tell(f"A conversation of {size} messages …")
            talk = english.make_talk(seed=seed + size, messages=size)
            for start in range(0, size, BATCH):
                batch = talk[start : start + BATCH]
                client.require("add_messages", conversation_id=name, messages=batch)
            client.require("flush", conversation_id=name)
        tell("Making episodes and facts …")
        before = _read_clocks(server)
        worked = _spend(lambda: tell(f"… {server.manage('worker', '--drain')}"))
        pipeline = _read_clocks(server).since(before, operations=stored)
        grown, units = _read_number(server, SIZE) - empty, _read_number(server, UNITS) / stored
        tell("Asking …")
        with database.connect(server.data_dir) as connection:
            connection.execute("VACUUM (ANALYZE)")
        for body in _make_questions(names[min(sizes)], seed=seed + 1):
            # Each on a connection of its own: every process loads its model.
            Client(port=server.port, key=key).require("retrieve_memory", **body)
        questions = {size: _make_questions(name, seed=seed) for size, name in names.items()}
        return Costs(
            message=message,
            pipeline=Cost((worked - starting) / stored, pipeline.database_s),
            answers={
                round(size * units): _count(server, client, "retrieve_memory", asked)
                for size, asked in questions.items()
            },
            bytes_a_message=grown / stored,
            units_a_message=units,
        )


def _read_number(server: Server, statement: str) -> int:
    with database.connect(server.data_dir) as connection:
        (number,) = connection.execute(statement).fetchone() or (0,)
    return int(number)


def _make_questions(name: str, *, seed: int) -> list[dict[str, Any]]:
    """Return questions that were never asked, packed as agents should."""
    sentences = [one["content"] for one in english.make_talk(seed=seed + 1, messages=1_000)]
    random = Random(f"{seed} {name}")
    queries = (f"{' '.join(random.sample(sentences, 2))} {n}" for n in range(2 * QUESTIONS))
    return [{"conversation_id": name, "query": query, "max_tokens": 1000} for query in queries]


def _count(server: Server, client: Client, call: str, bodies: list[dict[str, Any]]) -> Cost:
    """Return the cost of each call of the second half; the first only warms up."""
    half = len(bodies) // 2
    before = _read_clocks(server)
    for number, body in enumerate(bodies):
        if number == half:
            before = _read_clocks(server)
        time.sleep(1 / A_SECOND)
        client.require(call, **body)
    return _read_clocks(server).since(before, operations=len(bodies) - half)


def _spend(work: Callable[[], object]) -> float:
    """Return the processor seconds of the processes that the work starts and ends."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _read_clocks(server: Server) -> Cost:
    """Return the processor seconds so far, of the web server's processes and the database's."""
    pid = embedded.find_running(server.data_dir)
    postmaster = look_up(pid) if pid else None
    theirs = set(list_tree(postmaster))
    ours = set(find_marked(f"MEMORY_DATA_DIR={server.data_dir}")) - theirs
    return Cost(sum(map(_read_clock, ours)), sum(map(_read_clock, theirs)))


def _read_clock(process: Process) -> float:
    """Return what a process used, and its children that have ended."""
    try:
        stat = Path(PROC, str(process.pid), "stat").read_text(errors="replace")
    except OSError:
        return 0.0
    fields = stat.rpartition(") ")[2].split()
    return sum(map(int, [*fields[OWN], *fields[CHILDREN]])) / TICKS
