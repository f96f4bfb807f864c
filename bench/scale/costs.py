"""Measures what a message and an answer cost in processor time and on the disk."""

from __future__ import annotations

import os
import resource
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from threading import local

from bench import english
from bench.command import tell
from bench.load.tenants import Tenant
from bench.load.traffic import Call, ask
from bench.server import Server, running, shipped
from bench.storm import database
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
        tenant = Tenant("scale", server.manage("create_api_key", "--tenant=scale"))
        empty = _read_number(server, SIZE)
        tell("Posting messages one by one …")
        with _spent() as starting:
            server.manage("drain_jobs")
        message = _post(server, tenant, seed=seed)
        names = [str(uuid.uuid4()) for _ in sizes]
        for name, size in zip(names, sizes, strict=True):
            tell(f"A conversation of {size} messages …")
            _send(server, _tell_story(tenant, name, messages=size, seed=seed))
        _send(server, [tenant.post("flush", conversation_id=name) for name in names])
        pipeline = _drain(server, starting[0])
        stored = sum(sizes) + 2 * SINGLE_MESSAGES
        grown, units = _read_number(server, SIZE) - empty, _read_number(server, UNITS) / stored
        tell("Asking …")
        with database.connect(server.data_dir) as connection:
            connection.execute("VACUUM (ANALYZE)")
        for call in _make_questions(tenant, names[0], seed=seed + 1):
            _send(server, [call])  # each on a connection of its own: every process loads its model
        answers = {
            round(size * units): _ask(server, tenant, name, seed=seed)
            for name, size in sorted(zip(names, sizes, strict=True), key=lambda pair: pair[1])
        }
        return Costs(
            message=message,
            pipeline=Cost(pipeline.ours_s / stored, pipeline.database_s / stored),
            answers=answers,
            bytes_a_message=grown / stored,
            units_a_message=units,
        )


def _read_number(server: Server, statement: str) -> int:
    with database.connect(server.data_dir) as connection:
        (number,) = connection.execute(statement).fetchone() or (0,)
    return int(number)


def _post(server: Server, tenant: Tenant, *, seed: int) -> Cost:
    name = str(uuid.uuid4())
    talk = english.make_talk(seed=seed, messages=2 * SINGLE_MESSAGES)
    calls = [tenant.post("add_message", conversation_id=name, message=one) for one in talk]
    _send(server, calls[:SINGLE_MESSAGES])
    return _count(server, calls[SINGLE_MESSAGES:])


def _tell_story(tenant: Tenant, name: str, *, messages: int, seed: int) -> Iterator[Call]:
    talk = english.make_talk(seed=seed + messages, messages=messages)
    for start in range(0, messages, BATCH):
        batch = talk[start : start + BATCH]
        yield tenant.post("add_messages", conversation_id=name, messages=batch)


def _ask(server: Server, tenant: Tenant, name: str, *, seed: int) -> Cost:
    """Return the cost of an answer to a question that was never asked, packed as agents should."""
    calls = _make_questions(tenant, name, seed=seed)
    _send(server, calls[:QUESTIONS])
    return _count(server, calls[QUESTIONS:])


def _make_questions(tenant: Tenant, name: str, *, seed: int) -> list[Call]:
    sentences = [one["content"] for one in english.make_talk(seed=seed + 1, messages=1_000)]
    random = Random(f"{seed} {name}")
    return [
        tenant.post(
            "retrieve_memory",
            conversation_id=name,
            query=f"{random.choice(sentences)} {random.choice(sentences)} {number}",
            max_tokens=1000,
        )
        for number in range(2 * QUESTIONS)
    ]


def _count(server: Server, calls: Sequence[Call]) -> Cost:
    before = _read_clocks(server)
    _send(server, calls)
    after = _read_clocks(server)
    return Cost(
        (after.ours_s - before.ours_s) / len(calls),
        (after.database_s - before.database_s) / len(calls),
    )


def _send(server: Server, calls: Iterator[Call] | Sequence[Call]) -> None:
    """Send calls one after the other.

    Raises:
        RuntimeError: one was refused.
    """
    send = partial(ask, local(), server.port)
    for call in calls:
        time.sleep(1 / A_SECOND)
        status = send(call)
        if not 200 <= status < 300:
            raise RuntimeError(f"{call.path} was answered with {status}")


def _drain(server: Server, starting_s: float) -> Cost:
    """Return what the waiting work costs, beyond starting a process that does it."""
    before = _read_clocks(server)
    tell("Making episodes and facts …")
    with _spent() as work:
        tell(f"… {server.manage('drain_jobs')}")
    after = _read_clocks(server)
    return Cost(work[0] - starting_s, after.database_s - before.database_s)


@contextmanager
def _spent() -> Iterator[list[float]]:
    """Yield a list that gets the processor seconds of the processes that end in the block."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent: list[float] = []
    yield spent
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


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
