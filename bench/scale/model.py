"""Computes machines, disk and money from what a message and an answer cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.scale.costs import Cost, Costs

DAY_S = 86_400
A_YEAR = 365
MONTH = 30.4
GB = 1e9


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What nothing here measures; each is an argument of the command."""

    answers_a_message: float = 0.5
    conversation_messages: int = 1_000
    """As large is the conversation that an answer searches."""
    peak: float = 4.0
    """The busiest hour, times the mean."""
    busy: float = 0.6
    """So much of a processor is used at the peak."""
    database_cores: int = 32
    """Of the largest machine for PostgreSQL that is at hand."""
    node_cores: int = 4
    """Of a machine for web processes and workers."""
    core_month: float = 25.0
    """Dollars."""
    gb_month: float = 0.12
    """Dollars; a year's messages are stored, twice where there is a second copy."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a number of messages a day needs. Cores are whole, and at least one each."""

    messages_a_day: int
    our_cores: float
    database_cores: float
    disk_gb: float
    machines: int
    shape: str
    dollars_a_month: float

    @property
    def dollars_a_million(self) -> float:
        """What a million messages cost, with the answers that go with them."""
        return self.dollars_a_month / (self.messages_a_day * MONTH) * 1e6


def fit_answers(costs: Costs) -> tuple[Cost, Cost]:
    """Return the cost of an answer at no units, and that of each unit: straight lines."""
    sizes = list(costs.answers)
    ours = _fit(sizes, [cost.ours_s for cost in costs.answers.values()])
    theirs = _fit(sizes, [cost.database_s for cost in costs.answers.values()])
    return Cost(ours[0], theirs[0]), Cost(ours[1], theirs[1])


def _fit(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return intercept and slope by least squares, the slope not below zero."""
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread
    slope = max(0.0, slope)
    return mean_y - slope * mean_x, slope


def find_needs(costs: Costs, assumed: Assumptions, messages_a_day: Sequence[int]) -> Iterator[Need]:
    """Yield what each number of messages a day needs."""
    fixed, a_unit = fit_answers(costs)
    units = assumed.conversation_messages * costs.units_a_message
    asked = assumed.answers_a_message
    answer_s = fixed.ours_s + a_unit.ours_s * units
    reads_s = asked * (fixed.database_s + a_unit.database_s * units)
    ours_s = costs.message.ours_s + costs.pipeline.ours_s + asked * answer_s
    writes_s = costs.message.database_s + costs.pipeline.database_s
    for messages in messages_a_day:
        at_peak = messages / DAY_S * assumed.peak / assumed.busy
        yield _find_need(
            assumed,
            messages,
            our_cores=at_peak * ours_s,
            writing=at_peak * writes_s,
            reading=at_peak * reads_s,
            disk_gb=messages * A_YEAR * costs.bytes_a_message / GB,
        )


def _find_need(
    assumed: Assumptions,
    messages: int,
    *,
    our_cores: float,
    writing: float,
    reading: float,
    disk_gb: float,
) -> Need:
    """Choose the simplest shape that carries it, in the order in which an operator grows."""
    theirs = writing + reading
    largest = assumed.database_cores
    nodes, copies = math.ceil(our_cores / assumed.node_cores), 1
    cores = nodes * assumed.node_cores + math.ceil(theirs)
    if our_cores + theirs <= assumed.node_cores:
        shape, machines, cores = "one machine", 1, math.ceil(our_cores + theirs)
    elif theirs <= largest:
        shape, machines = "machines beside one database", nodes + 1
    elif writing <= largest:
        copies += math.ceil(reading / largest)
        shape, machines = f"{copies - 1} replicas for reading", nodes + copies
    else:
        shards = math.ceil(theirs / largest)
        shape, machines = f"tenants over {shards} databases", nodes + shards
    dollars = cores * assumed.core_month + disk_gb * copies * assumed.gb_month
    return Need(messages, our_cores, theirs, disk_gb, machines, shape, dollars)
