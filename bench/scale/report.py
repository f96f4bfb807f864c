"""Renders what was measured and modelled as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from bench.scale.costs import Costs
from bench.scale.model import Assumptions, Need
from bench.tables import render_table

MEASURED = ["measured here", "our processes, ms", "the database, ms"]
MODELLED = [
    *("messages a day", "cores: ours", "cores: database", "GB after a year"),
    *("dollars a month", "dollars a million messages"),
]


def render(costs: Costs, assumed: Assumptions, needs: Sequence[Need]) -> str:
    """Return both tables and the assumptions."""
    measured = {
        "a message, posted alone": costs.message,
        "episodes and facts, a message": costs.pipeline,
        **{f"an answer from {units:,} units": cost for units, cost in costs.answers.items()},
    }
    shown = (f"{name.replace('_', ' ')} {value:g}" for name, value in asdict(assumed).items())
    return "\n\n".join(
        [
            render_table(
                MEASURED,
                [
                    (name, f"{cost.ours_s * 1000:.1f}", f"{cost.database_s * 1000:.1f}")
                    for name, cost in measured.items()
                ],
            ),
            f"A message makes {costs.units_a_message:.2f} search units, and takes"
            f" {costs.bytes_a_message / 1000:.1f} kB of disk in all.",
            render_table(MODELLED, map(_render_need, needs)),
            f"Assumed, not measured: {', '.join(shown)}.",
        ]
    )


def _render_need(need: Need) -> list[str]:
    cores = (f"{count:,.1f}" for count in (need.our_cores, need.database_cores))
    others = (need.disk_gb, need.dollars_a_month, need.dollars_a_million)
    return [f"{need.messages_a_day:,}", *cores, *(f"{value:,.0f}" for value in others)]
