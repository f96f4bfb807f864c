"""Computes cores, disk and money from what a message and an answer cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

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
    core_month: float = 25.0
    """Dollars."""
    gb_month: float = 0.12
    """Dollars; a year's messages are stored."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a number of messages a day needs at the busiest hour."""

    messages_a_day: int
    our_cores: float
    database_cores: float
    disk_gb: float
    """After a year."""
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
    slope = max(0.0, float(np.polyfit(xs, ys, 1)[0]))
    return fmean(ys) - slope * fmean(xs), slope


def find_needs(costs: Costs, assumed: Assumptions, messages_a_day: Sequence[int]) -> Iterator[Need]:
    """Yield what each number of messages a day needs."""
    fixed, a_unit = fit_answers(costs)
    units = assumed.conversation_messages * costs.units_a_message
    asked = assumed.answers_a_message
    answer_s = fixed.ours_s + a_unit.ours_s * units
    reads_s = asked * (fixed.database_s + a_unit.database_s * units)
    ours_s = costs.message.ours_s + costs.pipeline.ours_s + asked * answer_s
    theirs_s = costs.message.database_s + costs.pipeline.database_s + reads_s
    for messages in messages_a_day:
        at_peak = messages / DAY_S * assumed.peak / assumed.busy
        ours, theirs = at_peak * ours_s, at_peak * theirs_s
        disk_gb = messages * A_YEAR * costs.bytes_a_message / GB
        dollars = math.ceil(ours + theirs) * assumed.core_month + disk_gb * assumed.gb_month
        yield Need(messages, ours, theirs, disk_gb, dollars)
