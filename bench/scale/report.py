"""Renders what was measured and modelled, as tables and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter

from bench.scale.costs import Cost, Costs
from bench.scale.model import Assumptions, Need

COLOURS = ("#2a9d8f", "#e9a227", "#c8553d")
GRID = "#e3e3e3"


def render(costs: Costs, assumed: Assumptions, needs: Sequence[Need]) -> str:
    """Return both tables and the assumptions as markdown."""
    return "\n".join([*_render_costs(costs), "", *_render_needs(needs), "", *_render(assumed), ""])


def _render_costs(costs: Costs) -> Iterator[str]:
    yield "| measured here | our processes, ms | the database, ms |"
    yield "|---|---|---|"
    yield _row("a message, posted alone", costs.message)
    yield _row("episodes and facts, a message", costs.pipeline)
    for units, cost in costs.answers.items():
        yield _row(f"an answer from {units:,} search units", cost)
    yield ""
    yield (
        f"A message makes {costs.units_a_message:.2f} search units, and takes"
        f" {costs.bytes_a_message / 1000:.1f} kB of disk in all."
    )


def _row(name: str, cost: Cost) -> str:
    return f"| {name} | {cost.ours_s * 1000:.1f} | {cost.database_s * 1000:.1f} |"


def _render_needs(needs: Sequence[Need]) -> Iterator[str]:
    yield (
        "| messages a day | cores: ours | cores: database | GB after a year | machines | shape |"
        " dollars a month | a million messages |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for need in needs:
        yield (
            f"| {need.messages_a_day:,} | {need.our_cores:,.1f} | {need.database_cores:,.1f}"
            f" | {need.disk_gb:,.0f} | {need.machines:,} | {need.shape}"
            f" | {need.dollars_a_month:,.0f} | {need.dollars_a_million:,.0f} |"
        )


def _render(assumed: Assumptions) -> Iterator[str]:
    shown = ", ".join(
        f"{field.name.replace('_', ' ')} {getattr(assumed, field.name):g}"
        for field in fields(assumed)
    )
    yield f"Assumed, not measured: {shown}."


def draw(path: Path, needs: Mapping[int, Sequence[Need]]) -> None:
    """Write the picture: cores and dollars against messages a day, by conversation's size."""
    figure = Figure(figsize=(11, 5))
    left, right = figure.subplots(1, 2)
    for colour, (size, own) in zip(COLOURS, needs.items(), strict=True):
        days = [need.messages_a_day for need in own]
        label = f"conversations of {size:,} messages"
        cores = [need.our_cores + need.database_cores for need in own]
        left.plot(days, cores, color=colour, marker="o", label=label)
        right.plot(days, [need.dollars_a_million for need in own], color=colour, marker="o")
    left.set_title("cores at the busiest hour")
    right.set_title("dollars for a million messages")
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("messages a day")
        axes.grid(True, color=GRID)
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    figure.legend(loc="lower center", ncol=3, frameon=False)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
