"""The data of a chart, drawn by the Chart.js of the admin's theme.

A template shows one by `{% include "console/chart.html" with chart=chart %}`. Colours
are named, and chosen by the page for light and dark.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers of one name, one a label; None leaves a gap."""

    name: str
    values: Sequence[float | None]
    colour: str = "primary"
    """primary, green, orange, red, blue, or grey."""
    points_only: bool = False
    fill: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """`kind`: line, bar, or doughnut. `links`: where a click on each label leads."""

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
        """The same numbers as a table, for who cannot see the picture."""
        columns = [series.values for series in self.series]
        return [(label, [values[at] for values in columns]) for at, label in enumerate(self.labels)]
