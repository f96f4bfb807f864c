"""Data of a chart for the Chart.js of the admin's theme.

A template shows one by `{% include "console/chart.html" with chart=chart %}`. Colors are names,
which the page maps to light and dark.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Series:
    """A named series of numbers, one per label; None leaves a gap."""

    name: str
    values: Sequence[float | None]
    colour: str = "primary"
    """primary, green, orange, red, blue, or grey."""
    points_only: bool = False
    fill: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart; `kind`: line, bar, or doughnut. `links`: target of a click on each label."""

    key: str
    """Unique on its page."""
    title: str
    kind: str
    labels: Sequence[str]
    series: Sequence[Series]
    stacked: bool = False
    links: Sequence[str] = ()
    unit: str = ""
    y_max: float | None = None
    height_px: int = 200

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def has_values(self) -> bool:
        return any(any(series.values) for series in self.series)

    @property
    def rows(self) -> list[tuple[str, list[float | None]]]:
        """The numbers as a table, for people who cannot see the picture."""
        columns = [series.values for series in self.series]
        return [(label, [values[at] for values in columns]) for at, label in enumerate(self.labels)]
