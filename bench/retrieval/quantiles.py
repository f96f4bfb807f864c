"""Many latencies in a few figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Latencies in milliseconds, and of how many actions."""

    p50: float
    p95: float
    p99: float
    count: int

    def to_json(self) -> dict[str, Any]:
        """Return plain figures."""
        return asdict(self)


def summarise(seconds: Sequence[float]) -> Quantiles:
    """Return the quantiles of latencies given in seconds; there must be at least one."""
    p50, p95, p99 = (float(value) * 1000 for value in np.quantile(seconds, [0.5, 0.95, 0.99]))
    return Quantiles(p50=p50, p95=p95, p99=p99, count=len(seconds))
