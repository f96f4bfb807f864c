"""What came of a run, in figures and as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from bench.load.run import AFTER, ATTACK, CALM, PHASES, Run
from bench.load.tenants import HEAVY, HOSTILE, PROBE, SMALL
from bench.load.traffic import Sample
from bench.tables import measure_quantiles, render_table

KINDS = (SMALL, HEAVY, HOSTILE, PROBE)
COMPARED = ("retrieve_memory", "add_message")
RATIO_AT_MOST = 2.0
REFUSED = (429, 503)
FIGURES = ("p50", "p95", "p99", "worst")

Row = dict[str, Any]
"""One call of one class in one phase. Milliseconds, of calls that were not refused: None where
all were. `shares` by status, from 0 to 1; of status 0 are those that got no answer."""


def make_rows(run: Run) -> list[Row]:
    """Return the rows, by class, call and phase."""
    return [
        {"kind": kind, "call": call, "phase": phase, **_summarise(own)}
        for kind in KINDS
        for call in sorted({row.name for own in run.samples.values() for row in own.get(kind, [])})
        for phase in PHASES
        if (own := [row for row in run.samples[phase].get(kind, []) if row.name == call])
    ]


def _summarise(samples: list[Sample]) -> Row:
    taken = [sample.took_s for sample in samples if sample.status not in REFUSED]
    figures = measure_quantiles(taken) if taken else dict.fromkeys(FIGURES)
    counts = sorted(Counter(sample.status for sample in samples).items())
    shares = {status: count / len(samples) for status, count in counts}
    return {**figures, "count": len(samples), "shares": shares}


def find_ratios(rows: list[Row]) -> dict[str, dict[str, float]]:
    """Return by call and phase how often the p95 of small tenants is that of the calm phase."""
    p95 = {(row["call"], row["phase"]): row["p95"] for row in rows if row["kind"] == SMALL}
    return {
        call: {
            phase: later / calm
            for phase in (ATTACK, AFTER)
            if (later := p95.get((call, phase))) and (calm := p95.get((call, CALM)))
        }
        for call in COMPARED
    }


def make_results(run: Run) -> dict[str, Any]:
    """Return everything but the samples."""
    rows = make_rows(run)
    ratios = find_ratios(rows)
    return {
        **run.about,
        "rows": rows,
        "ratios": ratios,
        "live_worst_ms": max(row["worst"] or 0 for row in rows if row["kind"] == PROBE),
        "ok": all(own.get(ATTACK, RATIO_AT_MOST + 1) <= RATIO_AT_MOST for own in ratios.values()),
    }


def render(results: dict[str, Any]) -> str:
    """Return the tables and the conditions."""
    header = ["who, call, phase", "calls", "p50 ms", *FIGURES[1:], "429", "503", "other"]
    return "\n\n".join(
        [
            render_table(header, map(_render_row, results["rows"])),
            render_table(
                ["p95 of small tenants, times that of calm", ATTACK, AFTER, "wanted at most"],
                [
                    (call, *(own.get(phase, "") for phase in (ATTACK, AFTER)), RATIO_AT_MOST)
                    for call, own in results["ratios"].items()
                ],
            ),
            *_render_about(results),
        ]
    )


def _render_row(row: Row) -> list[str]:
    refused = [row["shares"].get(status, 0.0) for status in REFUSED]
    answered = sum(share for status, share in row["shares"].items() if 200 <= status < 300)
    shares = [*refused, max(0.0, 1 - answered - sum(refused))]
    figures = ["" if row[name] is None else f"{row[name]:,.0f}" for name in FIGURES]
    who = f"{row['kind']}, {row['call']}, {row['phase']}"
    return [who, f"{row['count']:,}", *figures, *(f"{share:.1%}" for share in shares)]


def _render_about(results: dict[str, Any]) -> Iterator[str]:
    rates = ", ".join(f"{kind} {rate:g}" for kind, rate in results["rates"].items())
    shown = ", ".join(f"{name} {value}" for name, value in results["settings"].items())
    yield f"health/live took {results['live_worst_ms']:.0f} ms at worst."
    yield (
        f"{results['tenants']} small tenants, {results['notes']} large notes,"
        f" {results['seconds']:g} s a phase; calls a second: {rates}; {results['cores']} cores,"
        f" {results['load_before']} processes ran before.\nSettings: {shown}."
    )
