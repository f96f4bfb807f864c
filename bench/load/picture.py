"""The run as a picture: how long calls took from second to second, through the three phases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.load.report import REFUSED
from bench.load.run import ATTACK, PHASES, Run
from bench.load.tenants import HEAVY, PROBE, SMALL
from bench.load.traffic import Sample

PANELS = (
    (SMALL, "retrieve_memory", "#2a9d8f"),
    (SMALL, "add_message", "#e9a227"),
    (HEAVY, "retrieve_memory", "#457b9d"),
    (PROBE, "health/live", "#777777"),
)
SLICES = 12
"""Of each phase; a point stands for the calls of one."""
INK, GRID, SHADE = "#333333", "#e3e3e3", "#c8553d"


def draw(path: Path, run: Run) -> None:
    """Write the picture; the end of the name says in which format."""
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "load"}):
        figure = Figure(figsize=(10, 6))
        panels = figure.subplots(2, 2, sharex=True, sharey=True).flat
        for axes, (kind, call, colour) in zip(panels, PANELS, strict=True):
            _draw_panel(axes, run, kind=kind, call=call, colour=colour)
        figure.suptitle("One hostile tenant at its limits (line: p50, shade: up to p95)", color=INK)
        figure.supylabel("milliseconds", color=INK, fontsize=10)
        figure.tight_layout()
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _draw_panel(axes: Axes, run: Run, *, kind: str, call: str, colour: str) -> None:
    seconds = run.about["seconds"]
    points = []
    for number, phase in enumerate(PHASES):
        named = [row for row in run.samples[phase].get(kind, []) if row.name == call]
        own = [row for row in named if row.status not in REFUSED]
        points += list(_summarise(own, seconds=seconds, start=number * seconds))
        if phase == ATTACK:
            axes.axvspan(number * seconds, (number + 1) * seconds, color=SHADE, alpha=0.1, lw=0)
    if points:
        at, p50, p95 = zip(*points, strict=True)
        axes.fill_between(at, p50, p95, color=colour, alpha=0.25, linewidth=0)
        axes.plot(at, p50, color=colour, linewidth=2)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    middles = [(number + 0.5) * seconds for number in range(len(PHASES))]
    axes.set_xticks(middles, labels=PHASES)
    axes.set_title(f"{kind}: {call}", color=INK, fontsize=10)
    axes.grid(True, axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _summarise(
    samples: list[Sample], *, seconds: float, start: float
) -> Iterator[tuple[float, float, float]]:
    """Yield of each slice with calls its middle (s), p50 and p95 (ms)."""
    width = seconds / SLICES
    for number in range(SLICES):
        taken = [row.took_s for row in samples if int(row.at_s / width) == number]
        if taken:
            p50, p95 = np.quantile(taken, [0.5, 0.95]) * 1000
            yield start + (number + 0.5) * width, float(p50), float(p95)
