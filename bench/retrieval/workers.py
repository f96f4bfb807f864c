"""Loading by several processes; this module knows no Django, so that they can start from it."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import django

from bench.retrieval.plan import Owner, Plan

EPISODES_A_COPY = 500
PROCESSES_AT_MOST = 4


@dataclass(frozen=True)
class Work:
    """What all processes load a part of."""

    plan: Plan
    owner: Owner


class Loads(Protocol):
    """Loads a run of episodes; made inside its process."""

    def load(self, first: int, last: int) -> int:
        """Load the episodes first … last − 1 and return how many search units they have."""
        ...


_loaders: list[Loads] = []


def _start(work: Work) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    django.setup()
    _loaders.append(importlib.import_module("bench.retrieval.load").Loader(work))


def _load(first: int) -> int:
    (loader,) = _loaders
    return loader.load(first, first + EPISODES_A_COPY)


def load_all(work: Work, *, report: Callable[[int], object]) -> None:
    """Load every episode, nearly in order of arrival: a process is one step ahead at most."""
    with ProcessPoolExecutor(
        min(PROCESSES_AT_MOST, os.cpu_count() or 1),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(work,),
    ) as pool:
        for rows in pool.map(_load, range(0, work.plan.episodes, EPISODES_A_COPY)):
            report(rows)
