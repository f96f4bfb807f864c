"""What the storm did, and when, by the machine's clock, which is also the database's."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

from bench.storm.roles import Role
from bench.storm.schedule import Deed

WORKER_SIDE = frozenset({Role.SUPERVISOR, Role.CLUSTER, Role.WORKER, Role.MONITOR, Role.PUSHER})


@dataclass(frozen=True, slots=True)
class Event:
    """One deed that was done; `service` and `cluster` are what it hit, where it hit one."""

    at: float
    deed: Deed
    role: Role | None = None
    service: str = ""
    cluster: str = ""
    """The id under which the workers of that service held jobs just then."""

    @property
    def hits_workers(self) -> bool:
        """Whether a process died that a running job may depend on."""
        return self.deed is Deed.KILL and self.role in WORKER_SIDE


class Diary:
    """Keeps the events; safe in any number of threads."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._lock = threading.Lock()

    def write(self, event: Event) -> None:
        """Note something that was done."""
        with self._lock:
            self._events.append(event)

    def read(self) -> list[Event]:
        """Return all events so far, oldest first."""
        with self._lock:
            return list(self._events)

    def count(self, deed: Deed) -> int:
        """Return how often something was done."""
        return sum(event.deed is deed for event in self.read())

    def count_kills(self) -> dict[str, int]:
        """Return the kills by role."""
        counts = Counter(str(event.role) for event in self.read() if event.deed is Deed.KILL)
        return dict(sorted(counts.items()))
