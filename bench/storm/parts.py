"""A thread whose failure is not lost."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod


class Part(threading.Thread, ABC):
    """Does its work in the background; ends with the process."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._failure: Exception | None = None

    @abstractmethod
    def work(self) -> None:
        """Do it."""

    def run(self) -> None:
        """Do the work and keep what it raised."""
        try:
            self.work()
        except Exception as error:
            self._failure = error

    def check(self) -> None:
        """Raise what the work raised."""
        if self._failure is not None:
            raise self._failure
