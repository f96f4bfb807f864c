"""Sends calls at the moments of a schedule, however long the answers take: an open loop.

Each schedule has a process of its own, so that what one class of tenants sends and reads costs
another no time of the interpreter, and is not measured as the server's.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from bench.storm.client import TIMEOUT_S, Client

CONNECTIONS = 32
"""Of each class of tenants: so many calls at most are under way."""
LEAD_S = 5.0
"""Until the processes have started."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request, ready to be sent; `key` is empty where none is needed."""

    name: str
    method: str
    path: str
    key: str = ""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Sample:
    """What became of a call. Seconds: `at_s` from the beginning of the phase to the scheduled
    moment, `took_s` from that moment to the end of the answer. `status` 0: there was none."""

    name: str
    at_s: float
    took_s: float
    status: int


Schedule = list[tuple[float, Call]]
"""Seconds from the beginning of the phase, and what is sent then; the earliest first."""


def run_phase(schedules: Mapping[str, Schedule], *, port: int) -> dict[str, list[Sample]]:
    """Send all schedules side by side; return their samples by the same names."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(schedules), mp_context=context) as processes:
        starts_at = time.monotonic() + LEAD_S
        sent = {
            name: processes.submit(send_all, schedule, port=port, starts_at=starts_at)
            for name, schedule in schedules.items()
        }
        return {name: future.result() for name, future in sent.items()}


def send_all(schedule: Schedule, *, port: int, starts_at: float) -> list[Sample]:
    """Send each call at its moment, on the machine's monotonic clock, or as soon as one of the
    connections is free; what has waited too long for that counts as not answered."""
    send = partial(_send, threading.local(), port, starts_at)
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        return list(threads.map(send, schedule))


def _send(own: threading.local, port: int, starts_at: float, item: tuple[float, Call]) -> Sample:
    at_s, call = item
    due = starts_at + at_s
    if (early_s := due - time.monotonic()) > 0:
        time.sleep(early_s)
    in_time = time.monotonic() < due + TIMEOUT_S
    status = ask(own, port, call) if in_time else 0
    return Sample(call.name, at_s, time.monotonic() - due, status)


def ask(own: threading.local, port: int, call: Call) -> int:
    """Return the status of the answer, on the thread's one connection; 0: none came."""
    client: Client = own.__dict__.setdefault("client", Client(port=port))
    key = {"Authorization": f"Bearer {call.key}"} if call.key else {}
    return client.send(call.method, call.path, call.body, **key).status
