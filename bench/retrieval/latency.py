"""How long a search takes: over HTTP, by embedding and SQL, and by SQL alone."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bench.retrieval.clients import Ask, Clients, Side
from bench.retrieval.plan import Measured, Plan, conversation_id
from bench.retrieval.quantiles import Quantiles, summarise
from bench.retrieval.wording import Wording

WORDS_A_QUESTION = 15
COMPARED = (Side.SQL, Side.EMBEDDED_SQL, Side.HTTP, Side.PACKED)
LEGS = (Side.EMBEDDING, Side.WORDS, Side.VECTORS)
ROUND = 10
"""Questions put to each side in turn, one client, before the clock is looked at."""
SLICES = 4
"""Turns of each side with many clients: no side has all the quiet moments."""
SLICE_ASKS = 2_000
"""At most, for one client in one turn."""
FULL_PLACE, SMALL_PLACE, WRITES_PLACE = 0, 1, 2
"""The full database, the small one, and the full one by the key of another tenant."""

Report = Callable[[int], object]


class Questions:
    """Questions that were never asked before, so that no cache of queries knows them."""

    def __init__(self, plan: Plan, wording: Wording, *, run: int) -> None:
        self._plan, self._wording = plan, wording
        self._rng = np.random.default_rng([plan.seed, 5, run])

    def draw(self, conversation: Measured) -> str:
        """Return a question about what one conversation speaks of."""
        topics = self._plan.topics[conversation.index].tolist()
        return self._wording.ask(self._rng, topics, WORDS_A_QUESTION)

    def stream(self, size: int) -> Iterator[tuple[uuid.UUID, str]]:
        """Yield questions to each of the conversations of a size in turn, without end."""
        conversations = self._plan.of_size(size)
        while True:
            for conversation in conversations:
                yield conversation_id(self._plan, conversation.index), self.draw(conversation)


@dataclass(frozen=True, slots=True)
class Budget:
    """When a comparison ends. `seconds` counts for each of its sides."""

    seconds: float
    questions: int


def compare(
    clients: Clients,
    asks: Iterator[tuple[uuid.UUID, str]],
    sides: Sequence[tuple[Side, int] | tuple[Side, int, uuid.UUID]],
    budget: Budget,
) -> list[Quantiles]:
    """Put the same questions to each side, one client, the sides in turn; figures by side.

    A side is what is timed and the place it goes to, and maybe whom it asks about. Which comes
    first changes with each question: the first to ask finds the rows less warm.
    """
    seconds: list[list[float]] = [[] for _ in sides]
    until = time.monotonic() + budget.seconds * len(sides)
    warm_up = len(sides) * 2
    while not seconds[0] or (time.monotonic() < until and len(seconds[0]) < budget.questions):
        batch: list[tuple[int, Ask]] = []
        for turn in range(ROUND + (2 if warm_up else 0)):
            conversation, words = next(asks)
            for step in range(len(sides)):
                number = (turn + step) % len(sides)
                side, place, *whose = sides[number]
                about = whose[0] if whose else conversation
                batch.append((number, Ask(side, about, words, place=place)))
        left = max(until - time.monotonic(), 0.5)
        (samples,) = clients.run([[ask for _, ask in batch]], seconds=left, warm_up=warm_up)
        for sample in samples:
            seconds[batch[warm_up + sample.index][0]].append(sample.seconds)
        warm_up = 0
    return [summarise(own) for own in seconds]


@dataclass(frozen=True, slots=True)
class Crowd:
    """What many clients at once got."""

    latency: Quantiles
    per_second: float


def crowd(
    clients: Clients,
    count: int,
    asks: Iterator[tuple[uuid.UUID, str]],
    sides: Sequence[Side],
    budget: Budget,
) -> list[Crowd]:
    """Let `count` clients ask all at once, the sides in turns; figures by side."""
    slice_s = budget.seconds / SLICES
    seconds: list[list[float]] = [[] for _ in sides]
    took = [0.0 for _ in sides]
    asked_a_second = 50.0
    for turn in range(SLICES):
        for step in range(len(sides)):
            number = (turn + step) % len(sides)
            own = min(SLICE_ASKS, 4 + round(asked_a_second * slice_s * 3 / count))
            batch = [[Ask(sides[number], *next(asks)) for _ in range(own)] for _ in range(count)]
            samples = clients.run(batch, seconds=slice_s, warm_up=2 if turn == 0 else 0)
            flat = [sample.seconds for each in samples for sample in each]
            longest = max(sum(sample.seconds for sample in each) for each in samples)
            seconds[number] += flat
            took[number] += longest
            asked_a_second = max(asked_a_second, len(flat) / longest)
    return [
        Crowd(summarise(own), len(own) / all_s) for own, all_s in zip(seconds, took, strict=True)
    ]
