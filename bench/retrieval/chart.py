"""The growth curve as a picture: latency against rows, on two logarithmic axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from bench.retrieval.clients import Side

COLOURS = {
    Side.SQL: "#2a9d8f",
    Side.EMBEDDED_SQL: "#e9a227",
    Side.HTTP: "#c8553d",
    Side.PACKED: "#5b4b8a",
}
LABELS = {
    Side.SQL: "the SQL statement alone",
    Side.EMBEDDED_SQL: "query embedding + SQL",
    Side.HTTP: "POST retrieve_memory over HTTP",
    Side.PACKED: "with max_tokens 1000",
}
LABEL_LIFTS = {Side.SQL: -11, Side.EMBEDDED_SQL: 0, Side.HTTP: 8, Side.PACKED: 20}
"""Points by which the figures at the end of the lines move apart."""
INK, GRID = "#333333", "#e3e3e3"
WIDTH, HEIGHT, DPI = 11, 5, 160


def draw(path: Path, results: dict[str, Any]) -> None:
    """Write the picture: one client to the left, eight to the right."""
    figure = Figure(figsize=(WIDTH, HEIGHT))
    panels = figure.subplots(1, 2, sharey=True)
    rows = results["latency"]
    for axes, clients in zip(panels, ("1", "8"), strict=True):
        _draw_panel(axes, rows, clients)
    panels[0].set_ylabel("milliseconds", color=INK)
    about = results["about"]
    figure.suptitle(
        "How long an answer takes (line: p50, shade: up to p95)",
        color=INK,
        fontsize=13,
        fontweight="bold",
    )
    figure.text(
        0.5,
        0.905,
        f"{about['rows']:,} rows in {about['conversations']:,} conversations ·"
        f" {about['dim']} dimensions · {about['embedder']} · {about['cores']} cores",
        ha="center",
        color="#777777",
        fontsize=9,
    )
    figure.tight_layout(rect=(0, 0.06, 1, 0.95))
    figure.legend(
        panels[0].lines,
        [LABELS[side] for side in COLOURS],
        loc="lower center",
        ncol=4,
        frameon=False,
        fontsize=10,
    )
    figure.savefig(path, dpi=DPI)


def _draw_panel(axes: Axes, rows: list[dict[str, Any]], clients: str) -> None:
    sizes = [row["rows"] for row in rows]
    for side, colour in COLOURS.items():
        p50 = [row[clients][side]["p50"] for row in rows]
        p95 = [row[clients][side]["p95"] for row in rows]
        axes.fill_between(sizes, p50, p95, color=colour, alpha=0.13, linewidth=0)
        axes.plot(sizes, p50, color=colour, marker="o", markersize=5, linewidth=2)
        axes.annotate(
            f"{p50[-1]:.0f}",
            (sizes[-1], p50[-1]),
            xytext=(8, LABEL_LIFTS[side]),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=9,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    axes.set_xlabel("rows searched in the conversation", color=INK)
    axes.set_title(f"{clients} client{'s' if clients != '1' else ''}", color=INK, fontsize=11)
    axes.grid(True, which="major", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for name in ("top", "right"):
        axes.spines[name].set_visible(False)
