"""The results as JSON, and as tables beside the targets."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.retrieval import targets
from bench.retrieval.clients import Side
from bench.retrieval.latency import COMPARED, LEGS
from bench.tables import render_table

Results = dict[str, Any]
QUANTILES = ("p50", "p95", "p99")
RELATIONS_SHOWN = 12


def write(folder: Path, results: Results) -> None:
    """Write results.json, also while a run is under way."""
    checked = [target.to_json() for target in targets.check(results)]
    text = json.dumps({**results, "targets": checked}, indent=1, ensure_ascii=False)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")


def show(results: Results, folder: Path) -> None:
    """Print everything as tables."""
    sections = [*_tell_about(results), *_tell_reading(results), *_tell_writing(results)]
    sections.append(_tell_targets(results))
    sys.stdout.write("\n\n".join(sections) + f"\n\nFigures: {folder / 'results.json'}\n")


def _tell_about(results: Results) -> Iterator[str]:
    about = results["about"]
    yield (
        f"{about['facts']:,} facts, {about['episodes']:,} episodes of {about['messages']:,}"
        f" messages, {about['conversations']:,} conversations:"
        f" {about['rows']:,} rows (search units)\n"
        f"{about['dim']} dimensions, embedder {about['embedder']}, PostgreSQL"
        f" {about['postgresql']}, fsync {about['fsync']}, {about['cores']} cores;"
        f" loaded in {about['load_s']:.0f} s; {about['load_before']:.1f} processes ran before"
    )


def _tell_reading(results: Results) -> Iterator[str]:
    if "latency" in results:
        for clients in ("1", "8"):
            header = [f"ms, {clients} client{'s' * (clients != '1')}", *QUANTILES, "count"]
            yield render_table(header, _latency_rows(results["latency"], clients))
    if "throughput" in results:
        header = ["HTTP, 4 clients", "searches/s", "p50 ms", "p95 ms"]
        yield render_table(header, _pick(results["throughput"], "per_second", "p50", "p95"))
    if "growth" in results:
        header = ["smallest conversation, p50", "small database", "full database", "ratio"]
        yield render_table(header, _growth_rows(results["growth"]))
    if "exactness" in results:
        header = ["found of the exact best", "words @10", "vectors @100"]
        columns = ("lexical_overlap_at_10", "vector_recall_at_100")
        yield render_table(header, _pick(results["exactness"], *columns))
    if "users" in results:
        header = ["1000 tokens, p50 ms", "conversation", "a user's 1", "30", "500 (ratio)"]
        yield render_table(header, _user_rows(results["users"]))
    if "near" in results:
        sides = (*COMPARED, Side.VECTORS)
        header = ["with approximate indexes, p50 ms", "recall @100", *map(str, sides)]
        yield render_table(header, _near_rows(results["near"]))


def _user_rows(rows: list[Results]) -> Iterator[list[Any]]:
    for row in rows:
        one, *several = (row[name]["p50"] for name in ("conversation", "1", "30", "500"))
        ratios = (f"{own:.1f} ({own / one:.2f})" for own in several)
        yield [f"{row['size']:,} rows", f"{one:.1f}", *ratios]


def _near_rows(rows: list[Results]) -> Iterator[list[Any]]:
    for row in rows:
        sides = (*COMPARED, Side.VECTORS)
        yield [f"{row['size']:,} rows", row["recall_at_100"], *(row[side]["p50"] for side in sides)]


def _pick(rows: list[Results], *columns: str) -> Iterator[list[Any]]:
    for row in rows:
        yield [f"{row['size']:,} rows", *(row[column] for column in columns)]


def _growth_rows(growth: Results) -> Iterator[list[Any]]:
    for side, own in growth.items():
        small, full = own["small"]["p50"], own["full"]["p50"]
        yield [side, small, full, full / small]


def _latency_rows(rows: list[Results], clients: str) -> Iterator[list[Any]]:
    for row in rows:
        own = row[clients]
        for side in (*COMPARED, *LEGS):
            if side in own:
                figures = [own[side][quantile] for quantile in QUANTILES]
                yield [f"{row['size']:,} rows, {side}", *figures, own[side]["count"]]
        http, both, sql = (own[side]["p50"] for side in (Side.HTTP, Side.EMBEDDED_SQL, Side.SQL))
        yield [f"{row['size']:,} rows, p50 http / ({Side.EMBEDDED_SQL})", http / both, "", "", ""]
        yield [f"{row['size']:,} rows, p50 http / {Side.SQL}", http / sql, "", "", ""]


def _tell_writing(results: Results) -> Iterator[str]:
    if "sizes" in results:
        relations = results["sizes"]["relations"][:RELATIONS_SHOWN]
        rows = [
            (own["name"], own["bytes"] / 1e6, own["bytes"] / max(own["rows"], 1))
            for own in relations
        ]
        total = results["sizes"]["database_bytes"] / 1e6
        header = [f"database {total:,.0f} MB, of which", "MB", "bytes/row"]
        yield render_table(header, rows)
    figures = [*_write_figures(results)]
    if figures:
        yield render_table(["writing", ""], figures)


def _write_figures(results: Results) -> Iterator[tuple[str, float]]:
    if "writing" in results:
        yield "ms a row of the index, by the service", results["writing"]["ms_a_row"]
        yield "bytes a row of the index, all included", results["writing"]["bytes_a_row"]
    for side, own in results.get("ingest", {}).items():
        yield f"{side}: requests/s", own["requests_a_second"]
        yield f"{side}: messages/s", own["messages_a_second"]
        yield f"{side}: p50 ms", own["latency"]["p50"]
        yield f"{side}: p95 ms", own["latency"]["p95"]
    if "pipeline" in results:
        yield "pipeline: messages/s", results["pipeline"]["messages_a_second"]


def _tell_targets(results: Results) -> str:
    rows = [
        (
            target.what,
            target.value,
            f"{'≥' if target.at_least else '≤'} {target.bound:g}",
            "pass" if target.is_met else "MISS",
        )
        for target in targets.check(results)
    ]
    return render_table(["target", "measured", "wanted", ""], rows)
