"""Doing something in several threads at once, each with a database connection of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connections

from memoryproject.tenancy.walls import across_tenants

Result = TypeVar("Result")

THREADS = 8


def run_in_threads(work: Callable[[int], Result], *, threads: int = THREADS) -> list[Result]:
    """Call `work` with 0, 1, … in as many threads, all starting together; return the results."""
    together = Barrier(threads)

    @across_tenants()
    def run(index: int) -> Result:
        together.wait()
        try:
            return work(index)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))
