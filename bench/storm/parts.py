"""A thread whose failure is not lost."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod


class Part(threading.Thread, ABC):
    """Does its work in the background; ends with the process."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.enough = threading.Event()
        self._failure: Exception | None = None

    @abstractmethod
    def work(self) -> None:
        """Do it; what goes on and on does so until there is `enough`."""

    def run(self) -> None:
        """Do the work and keep what it raised."""
        try:
            self.work()
        except Exception as error:
            self._failure = error

    def stop(self) -> None:
        """Let it end what it does, wait for that, and raise what the work raised."""
        self.enough.set()
        self.check()

    def check(self) -> None:
        """Wait for the end, and raise what the work raised."""
        self.join()
        if self._failure is not None:
            raise self._failure
