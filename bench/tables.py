"""Renders rows of figures as a table of plain text, and figures that several need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Z_95 = 1.959964
"""Standard deviations within which 95 % of a normal distribution lie."""


def render_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return columns under a header: the first to the left, figures to the right."""
    cells = [list(header)]
    cells += [
        [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def measure_quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return p50, p95, p99 and worst in milliseconds, of at least one latency."""
    p50, p95, p99, worst = (np.quantile(seconds, [0.5, 0.95, 0.99, 1.0]) * 1000).tolist()
    return {"p50": p50, "p95": p95, "p99": p99, "worst": worst}


def area_under_curve(positive: Any, negative: Any) -> float:
    """Return how often a positive lies above a negative, ties counting half; .5 is chance."""
    if not len(positive) or not len(negative):
        return 0.5
    differences = np.subtract.outer(positive, negative)
    return float(((differences > 0) + (differences == 0) / 2).mean())


def find_interval(right: int, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson's score; 0 and 1 where nothing was counted."""
    if not count:
        return 0.0, 1.0
    share, spread = right / count, Z_95**2 / count
    middle = (share + spread / 2) / (1 + spread)
    reach = (share * (1 - share) * spread + spread**2 / 4) ** 0.5 / (1 + spread)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)
