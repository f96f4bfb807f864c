"""Watches the trees and the table of jobs while the storm lasts."""

from __future__ import annotations

import time
from pathlib import Path

import psycopg

from bench.storm import database
from bench.storm.events import Diary
from bench.storm.parts import Part
from bench.storm.recovery import Restart, Row, Runs
from bench.storm.services import Service

LOOK_EVERY_S = 0.1
READ_EVERY_S = 0.25
JOBS = (Path(__file__).parent / "sql" / "jobs.sql").read_text(encoding="utf-8")


class TreeWatcher(Part):
    """Measures how long a worker service takes to be whole again after a kill."""

    def __init__(self, services: list[Service], diary: Diary) -> None:
        super().__init__("tree watcher")
        self.restarts: list[Restart] = []
        self._services = services
        self._diary = diary
        self._whole_at: dict[str, float] = {}

    def work(self) -> None:
        """Look ten times a second."""
        while not self.enough.wait(LOOK_EVERY_S):
            for service in self._services:
                self._look(service)

    def _look(self, service: Service) -> None:
        looked_at = time.time()
        if not service.is_whole(service.look()):
            return
        since = self._whole_at.get(service.name, 0.0)
        kills = [
            event
            for event in self._diary.read()
            if event.hits_workers and event.service == service.name and event.at > since
        ]
        # A look that began before the kill saw the tree as it was.
        if kills and looked_at > kills[-1].at:
            self.restarts.append(
                Restart(seconds=looked_at - kills[0].at, kills=len(kills), role=kills[0].role)
            )
        self._whole_at[service.name] = looked_at


class JobWatcher(Part):
    """Reads the table of jobs, four times a second, whatever becomes of the database."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__("job watcher")
        self.runs = Runs()
        self.due = self.later = self.running = 0
        self._data_dir = data_dir

    def work(self) -> None:
        """Connect, read, and connect anew after a crash."""
        while not self.enough.is_set():
            try:
                with database.connect(self._data_dir) as connection:
                    self._watch(connection)
            except psycopg.Error:
                self.enough.wait(READ_EVERY_S)

    def _watch(self, connection: database.Connection) -> None:
        while not self.enough.wait(READ_EVERY_S):
            rows = [Row(*row) for row in connection.execute(JOBS)]
            ready = [row for row in rows if row.state == "ready"]
            self.due = sum(row.is_due for row in ready)
            self.later = len(ready) - self.due
            self.running = sum(row.state == "running" for row in rows)
            self.runs.note(rows)
