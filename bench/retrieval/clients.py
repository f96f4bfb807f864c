"""Clients, each a process of its own: none waits for another's interpreter.

A client first prepares everything that is not to be measured, then waits for the word,
then times one action after the other. The sides of a comparison run in the same
processes, so 8 clients are 8 processes on either side: a side that embeds does so with
a model of its own in each, and shares neither an interpreter nor a thread pool.
"""

from __future__ import annotations

import importlib
import multiprocessing
import signal
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

import django

Action = Callable[[], object]


class Side(StrEnum):
    """What is timed."""

    SQL = "sql"
    EMBEDDED_SQL = "embedding + sql"
    HTTP = "http"
    PACKED = "http, 1000 tokens"
    USER = "http, 1000 tokens, of a user"
    EMBEDDING = "embedding"
    WORDS = "lexical leg"
    VECTORS = "vector leg"
    ADD_MESSAGE = "add_message"
    ADD_MESSAGES = "add_messages"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client sends its actions: a database, and the web server before it."""

    conninfo: str
    port: int
    key: str


@dataclass(frozen=True, slots=True)
class Ask:
    """One action to time. `words` is a query, `messages` are those to post.

    Of the side USER `conversation` is the id of the user.
    """

    side: Side
    conversation: uuid.UUID
    words: str = ""
    messages: tuple[str, ...] = ()
    place: int = 0
    """Which of the client's places it goes to."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One action that was timed: which of the asks given, and how long it took."""

    index: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Setup:
    """What a client needs to know from the start."""

    places: tuple[Place, ...]
    tenant_id: uuid.UUID
    language: str
    vectors_seed: int


class Prepares(Protocol):
    """Turns asks into actions; made inside the client's process."""

    def prepare(self, ask: Ask) -> Action:
        """Return the action, with all done that is not to be timed."""
        ...


def serve(setup: Setup, pipe: Connection) -> None:
    """Do what the pipe says until it closes: a client's whole life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    actor = _make_actor(setup)
    pipe.send("up")
    while True:
        try:
            asks, warm_up = pipe.recv()
        except EOFError:
            return
        try:
            actions = [actor.prepare(ask) for ask in asks]
            for action in actions[:warm_up]:
                action()
            pipe.send("ready")
            seconds = pipe.recv()
            pipe.send(_time(actions[warm_up:], until=time.perf_counter() + seconds))
        except Exception as error:
            pipe.send(RuntimeError(repr(error)))


def _make_actor(setup: Setup) -> Prepares:
    """Set up Django, which the module of the actions needs when it is imported."""
    django.setup()
    actor: Prepares = importlib.import_module("bench.retrieval.actions").Actor(setup)
    return actor


def _time(actions: Sequence[Action], *, until: float) -> list[Sample]:
    samples: list[Sample] = []
    for index, action in enumerate(actions):
        started = time.perf_counter()
        if started >= until:
            break
        action()
        samples.append(Sample(index, time.perf_counter() - started))
    return samples


class Clients:
    """A number of client processes that act at the same time."""

    def __init__(self, setup: Setup, count: int) -> None:
        self.places = setup.places
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes: list[BaseProcess] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(setup, theirs), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        _receive_all(self._pipes)

    def run(
        self, asks: Sequence[Sequence[Ask]], *, seconds: float = 3600.0, warm_up: int = 0
    ) -> list[list[Sample]]:
        """Run one list of asks in each of the first clients, all at once; return the samples.

        Nothing new starts after `seconds`. The first `warm_up` of each list are not timed.

        Raises:
            RuntimeError: an action failed.
        """
        pipes = self._pipes[: len(asks)]
        for pipe, own in zip(pipes, asks, strict=True):
            pipe.send((list(own), warm_up))
        _receive_all(pipes)
        for pipe in pipes:
            pipe.send(seconds)
        return _receive_all(pipes)

    def close(self) -> None:
        """End the processes."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(timeout=10)
            if process.is_alive():
                process.terminate()


def _receive_all(pipes: Sequence[Connection]) -> list[Any]:
    """Return what each client says, and raise the first error once all have spoken."""
    said = [pipe.recv() for pipe in pipes]
    for one in said:
        if isinstance(one, RuntimeError):
            raise one
    return said
