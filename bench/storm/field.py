"""What the parts of one storm share, and how it tells of itself."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from bench.command import tell as tell
from bench.storm.events import Diary
from bench.storm.heavy import Visitor
from bench.storm.ledger import Ledger
from bench.storm.options import Options
from bench.storm.schedule import Deed
from bench.storm.services import ModelServer, Service
from bench.storm.watcher import JobWatcher, TreeWatcher


@dataclass(frozen=True, slots=True)
class Place:
    """A conversation, and how its tenant reaches the server."""

    tenant: int
    conversation: uuid.UUID
    port: int
    key: str


@dataclass(slots=True)
class Storm:
    """One storm: who is in it, and what has been noted of it."""

    options: Options
    data_dir: Path
    places: list[Place]
    web: Service
    workers: list[Service]
    model: ModelServer | None
    ledger: Ledger
    diary: Diary
    jobs: JobWatcher
    trees: TreeWatcher
    visitors: list[Visitor]
    """A tenant that is a burden, and one that waits beside it; mostly nobody."""
    started: float = field(default_factory=time.monotonic)

    @property
    def services(self) -> list[Service]:
        """Everything of the product that is kept running."""
        return [self.web, *self.workers]

    def tell_progress(self, phase: str) -> None:
        """Say in one line how far it is."""
        kills = sum(self.diary.count_kills().values())
        tell(
            f"{time.monotonic() - self.started:5.0f} s {phase}: "
            f"{self.ledger.count_accepted()} of {self.options.messages} accepted, "
            f"{kills} kills, {self.diary.count(Deed.CRASH)} crashes, "
            f"jobs: {self.jobs.running} running, {self.jobs.due} due, {self.jobs.later} later"
        )
