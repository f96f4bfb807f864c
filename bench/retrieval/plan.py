"""Which conversations there are, how large each is, and in which order everything arrives."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from bench.retrieval.wording import TOPIC_COUNT

Integers = npt.NDArray[np.int64]

EPISODES = 200_000
CONVERSATIONS = 5_000
MESSAGES_AN_EPISODE = (3, 4, 5, 6, 7, 8, 9, 10)
MESSAGES_SHARES = (0.28, 0.22, 0.16, 0.12, 0.09, 0.06, 0.04, 0.03)
FACTS_AN_EPISODE = (3, 4, 5, 6, 7)
ROWS_AN_EPISODE = 11
"""Search units on average: five facts, the episode's headline, five messages."""
SIZES = {1_000: 4, 10_000: 4, 50_000: 2, 100_000: 1}
"""Rows searched in a conversation, and how many conversations of that size are asked."""
TOPICS_A_CONVERSATION = 8
SMALLER = 100
"""How many times smaller the small database is."""
NAMESPACE = uuid.UUID("6f6c5e1e-9d1c-4b4e-8d8a-0b1f6a3c7e55")
START = datetime(2025, 1, 1, tzinfo=UTC)
SPAN = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose rows they are, and whose vectors."""

    tenant_id: uuid.UUID
    model: str
    dim: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A conversation that questions are put to. `size` is its nominal number of rows."""

    index: int
    size: int


@dataclass(frozen=True)
class Plan:
    """Everything but the words. Arrays by episode are in the order of arrival."""

    seed: int
    measured: tuple[Measured, ...]
    topics: Integers
    """Shape (conversations, TOPICS_A_CONVERSATION)."""
    conversation: Integers
    """By episode: whose it is."""
    messages: Integers
    facts: Integers
    first_seq: Integers
    small: npt.NDArray[np.bool_]
    """By conversation: whether the small database holds it, too."""

    @property
    def episodes(self) -> int:
        """How many episodes there are."""
        return len(self.conversation)

    @property
    def rows(self) -> int:
        """How many search units there are."""
        return int(self.messages.sum() + self.facts.sum()) + self.episodes

    def arrives_at(self, episode: int) -> datetime:
        """Return when an episode begins; arrival is spread evenly."""
        return START + SPAN * (episode / self.episodes)

    def sizes(self) -> tuple[int, ...]:
        """Return the nominal sizes, smallest first."""
        return tuple(sorted({conversation.size for conversation in self.measured}))

    def of_size(self, size: int) -> list[Measured]:
        """Return the conversations of a nominal size."""
        return [conversation for conversation in self.measured if conversation.size == size]


def make_plan(*, scale: float, full_sizes: bool, seed: int) -> Plan:
    """Plan a database; `full_sizes` keeps the measured conversations large at any scale."""
    rng = np.random.default_rng([seed, 2])
    shrink = 1.0 if full_sizes else scale
    sizes = [
        max(2 * ROWS_AN_EPISODE, round(size * shrink))
        for size, count in SIZES.items()
        for _ in range(count)
    ]
    ours = [max(2, round(size / ROWS_AN_EPISODE)) for size in sizes]
    count = max(len(sizes) + 20, round(CONVERSATIONS * scale))
    others = _spread(rng, total=round(EPISODES * scale) - sum(ours), over=count - len(sizes))
    blocks = np.array([*ours, *others], dtype=np.int64)
    conversation = rng.permutation(np.repeat(np.arange(count), blocks))
    messages = rng.choice(MESSAGES_AN_EPISODE, len(conversation), p=MESSAGES_SHARES)
    topics = [rng.choice(TOPIC_COUNT, TOPICS_A_CONVERSATION, replace=False) for _ in range(count)]
    return Plan(
        seed=seed,
        measured=tuple(Measured(index, size) for index, size in enumerate(sizes)),
        topics=np.stack(topics),
        conversation=conversation,
        messages=messages,
        facts=rng.choice(FACTS_AN_EPISODE, len(conversation)),
        first_seq=_first_seqs(conversation, messages),
        small=_choose_small(sizes, blocks),
    )


def conversation_id(plan: Plan, index: int) -> uuid.UUID:
    """Return the id of a conversation, which is the agent's id for it, too."""
    return uuid.uuid5(NAMESPACE, f"{plan.seed} {index}")


def _spread(rng: np.random.Generator, *, total: int, over: int) -> Integers:
    """Return sizes of a long-tailed distribution, each at least one, of about that total."""
    weights = rng.lognormal(sigma=1.0, size=over)
    sizes: Integers = np.maximum(1, np.round(weights / weights.sum() * total)).astype(np.int64)
    return sizes


def _first_seqs(conversation: Integers, messages: Integers) -> Integers:
    """Return each episode's first seq: one more than the messages before it in its conversation."""
    order = np.argsort(conversation, kind="stable")
    before = np.cumsum(messages[order]) - messages[order]
    opens = np.r_[True, np.diff(conversation[order]) != 0]
    own = before - np.maximum.accumulate(np.where(opens, before, 0))
    first = np.empty_like(own)
    first[order] = own + 1
    return first


def _choose_small(sizes: Sequence[int], blocks: Integers) -> npt.NDArray[np.bool_]:
    """Choose the smallest measured size, then others up to a hundredth of all rows."""
    chosen = np.zeros(len(blocks), dtype=bool)
    chosen[: len(sizes)] = np.array(sizes) == min(sizes)
    room = blocks.sum() / SMALLER - blocks[chosen].sum()
    rest = np.arange(len(sizes), len(blocks))
    chosen[rest[np.cumsum(blocks[rest]) <= room]] = True
    return chosen
