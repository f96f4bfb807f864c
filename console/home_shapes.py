"""What the front page is made of: tiles, charts, short tables, and what is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any

from console.charts import Chart


@dataclass(frozen=True, slots=True)
class Tile:
    """One number. `tone`: good, warn, bad, or nothing."""

    title: str
    value: str
    href: str = ""
    note: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """A short table; `empty` is said where it has no rows, `more` leads to the whole list."""

    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[Any]]
    empty: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class Spend:
    """What a tenant may spend today, and how far it is."""

    spent: Decimal
    budget: Decimal | None
    parked: int
    in_all: Decimal
    calls: int
    """Of the whole range, as is `in_all`."""
    calls_list: str

    @property
    def share(self) -> int:
        """Percent of the budget, at most 100."""
        if self.budget is None:
            return 0
        return 100 if not self.budget else min(100, round(100 * self.spent / self.budget))


draw = partial(Chart, height_px=150)
"""Makes a chart of the size that lets three stand side by side."""


@dataclass(slots=True)
class Part:
    """What one subject puts on the page; `has_news` is whether anything happened at all."""

    tiles: list[Tile] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    lists: list[Listed] = field(default_factory=list)
    spend: Spend | None = None
    has_news: bool = False

    @property
    def charts_with_news(self) -> list[Chart]:
        """The charts that have anything to show."""
        return [
            chart for chart in self.charts if any(any(series.values) for series in chart.series)
        ]
