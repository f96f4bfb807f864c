"""What the front page consists of: tiles of one number, charts, and the spend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from console.charts import Chart, Series
from console.home.metrics import Span


@dataclass(frozen=True, slots=True)
class Tile:
    """One number. `tone`: good, warn, bad, or nothing."""

    title: str
    value: str
    href: str = ""
    note: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Spend:
    """What a tenant has spent today of its budget, and in the whole range."""

    spent: Decimal
    budget: Decimal | None
    parked: int
    total: Decimal
    calls: int
    calls_list: str

    @property
    def share(self) -> int:
        """Percent of the budget, at most 100."""
        if self.budget is None:
            return 0
        return 100 if not self.budget else min(100, round(100 * self.spent / self.budget))


Widget = Tile | Chart | Spend


def draw_spans(
    key: str, title: str, spans: Sequence[Span], series: Sequence[Series], **options: Any
) -> Chart:
    """Return a chart over the spans, small enough that three stand side by side."""
    options = {"kind": "bar", "height_px": 150, **options}
    labels = [span.label for span in spans]
    return Chart(key=key, title=title, labels=labels, series=series, **options)
