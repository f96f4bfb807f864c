"""How soon work goes on after a kill, computed from looks at the table of jobs.

A *run* is one claim of a job. A run that is followed by another claim, although its
holder never gave the job back, was cut off. It was alive when its lease was last put
off; the first deed since then that hit its cluster, or the database, is taken for the
cause. A lease that is ended early is no sign of life.
"""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from bench.storm.events import Event
from bench.storm.roles import Role
from bench.storm.schedule import Deed

DOOMED_S = 1.5
"""So long may others of a cluster live on, and take jobs, after one of it was killed."""


@dataclass(frozen=True, slots=True)
class Row:
    """A job as one look found it; times are seconds since 1970."""

    job: uuid.UUID
    kind: str
    state: str
    token: uuid.UUID | None
    error: str
    started: float | None
    lease_until: float | None
    now: float
    holder: uuid.UUID | None = None
    """The cluster that has it, or had it last."""
    is_due: bool = False
    """Of one that is ready: whether its time has come."""


class End(Enum):
    """How a run ended."""

    NOT_YET = auto()
    SETTLED = auto()
    """Its holder finished the job, or gave it back."""
    CUT_OFF = auto()


@dataclass(slots=True)
class Run:
    """One claim of a job."""

    kind: str
    holder: str
    token: uuid.UUID | None
    lease_until: float
    renewed_until: float
    """The latest end that its lease ever had: who finds the holder dead may end it before."""
    end: End = End.NOT_YET
    next_claim: float = 0.0


@dataclass(frozen=True, slots=True)
class Restart:
    """How long a service was not whole after a kill; `kills` more than one: it was hit again."""

    seconds: float
    kills: int
    role: Role | None


class Runs:
    """All runs that were seen."""

    def __init__(self) -> None:
        self.longest_overdue_s = 0.0
        """By which a job that ran was past its lease."""
        self._leases: Counter[float] = Counter()
        self._runs: dict[uuid.UUID, dict[float, Run]] = defaultdict(dict)

    def note(self, rows: Iterable[Row]) -> None:
        """Take in one look."""
        for row in rows:
            if row.started is not None:
                self._note(row, row.started)

    def _note(self, row: Row, started: float) -> None:
        runs = self._runs[row.job]
        for earlier, before in runs.items():
            if earlier < started and before.end is End.NOT_YET:
                # Nobody takes a job before its lease ends: it was given back between two looks.
                given_back = started < before.lease_until
                before.end = End.SETTLED if given_back else End.CUT_OFF
                before.next_claim = started
        run = runs.get(started)
        keeps_place = run is None and bool(row.error)
        if row.state == "running" and row.lease_until is not None and not keeps_place:
            if run is None:
                run = runs[started] = Run(
                    row.kind, str(row.holder), row.token, row.lease_until, row.lease_until
                )
                # Just after the claim, this is the lease; later it is more.
                self._leases[round(row.lease_until - started, 1)] += 1
            if row.token == run.token:
                run.lease_until = row.lease_until
                run.renewed_until = max(run.renewed_until, row.lease_until)
                self.longest_overdue_s = max(self.longest_overdue_s, row.now - row.lease_until)
            else:
                run.end = End.SETTLED  # it keeps its place, under a token that nobody has
        elif run is not None and not (row.state == "ready" and not row.error):
            # A job that is ready and has no error was handed back: it goes on.
            run.end = End.SETTLED

    @property
    def lease_s(self) -> float:
        """How long a claim lasts, if it is not put off; 0 where none was seen."""
        return max(self._leases, key=lambda lease: (self._leases[lease], -lease), default=0.0)

    def cut_off(self) -> list[Run]:
        """Return the runs that were cut off and followed by another claim."""
        return [
            run for runs in self._runs.values() for run in runs.values() if run.end is End.CUT_OFF
        ]


def measure_recoveries(runs: Runs, events: Sequence[Event], deed: Deed) -> list[float]:
    """Return, for each such deed that cut runs off, the seconds until all went on."""
    longest: dict[Event, float] = {}
    for run in runs.cut_off():
        cause = _find_cause(run, events, lease_s=runs.lease_s)
        if cause is not None:
            longest[cause] = max(longest.get(cause, 0.0), run.next_claim - cause.at)
    return sorted(seconds for event, seconds in longest.items() if event.deed is deed)


def tell_runs(runs: Runs, events: Sequence[Event]) -> Iterator[dict[str, Any]]:
    """Yield what is known of each run that was cut off, for a closer look."""
    for run in runs.cut_off():
        cause = _find_cause(run, events, lease_s=runs.lease_s)
        yield {
            "kind": run.kind,
            "cause": str((cause.role or cause.deed) if cause else None),
            "after_s": round(run.next_claim - cause.at, 2) if cause else None,
            "past_lease_s": round(run.next_claim - run.lease_until, 2),
            "claimed_again": round(run.next_claim, 2),
        }


def count_unexplained(runs: Runs, events: Sequence[Event]) -> int:
    """Return how many runs were cut off although nothing was done to them."""
    causes = [_find_cause(run, events, lease_s=runs.lease_s) for run in runs.cut_off()]
    return causes.count(None)


def _find_cause(run: Run, events: Sequence[Event], *, lease_s: float) -> Event | None:
    alive_at = run.renewed_until - lease_s
    causes = (
        event
        for event in events
        if event.deed is Deed.CRASH
        or (event.cluster == run.holder and (event.hits_workers or event.deed is Deed.FREEZE))
    )
    since = alive_at - DOOMED_S
    return next((event for event in causes if since <= event.at < run.next_claim), None)


def find_quantile(values: Sequence[float], share: float) -> float | None:
    """Return the smallest value that `share` of all do not exceed; None where there are none."""
    if not values:
        return None
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]
