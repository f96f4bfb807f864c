"""What the server should reach, beside what it did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from bench.retrieval.clients import Side

Results = dict[str, Any]

HTTP_TO_EMBEDDED_SQL = 1.3
HTTP_TO_SQL_P95 = 1.2
SQL_P50_MS = {10_000: 15.0, 50_000: 28.0, 100_000: 60.0}
OVERLAP_AT_10 = 0.97
SEARCHES_A_SECOND = 170.0
GROWTH = 1.2
ADD_MESSAGE_A_SECOND = 250.0
ADD_MESSAGES_A_SECOND = 2_000.0
PIPELINE_A_SECOND = 30.0
WIDE_DIM, WIDE_SIZE, WIDE_MS = 1_536, 10_000, 20.0


@dataclass(frozen=True, slots=True)
class Target:
    """A figure with its bound. `at_least`: the bound is a floor, else a ceiling."""

    what: str
    value: float
    bound: float
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the figure is on the right side of its bound."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "is_met": self.is_met}


def check(results: Results) -> list[Target]:
    """Return every target whose figure was measured at the size that the target names."""
    return [
        *_check_latency(results),
        *_check_near(results),
        *_check_quality(results),
        *_check_throughput(results),
        *_check_writes(results),
    ]


def _check_latency(results: Results) -> Iterator[Target]:
    for row in results.get("latency", []):
        size, alone = row["size"], row["1"]
        if size in (1_000, 10_000) and not results["about"]["synthetic_embedder"]:
            ratio = alone[Side.HTTP]["p50"] / alone[Side.EMBEDDED_SQL]["p50"]
            yield Target(
                f"HTTP p50 / (embedding + SQL), {size:,} rows", ratio, HTTP_TO_EMBEDDED_SQL
            )
        if size in SQL_P50_MS:
            yield Target(f"SQL p50, {size:,} rows, ms", alone[Side.SQL]["p50"], SQL_P50_MS[size])
        if size == 100_000:
            ratio = alone[Side.HTTP]["p95"] / alone[Side.SQL]["p95"]
            yield Target(f"HTTP p95 / SQL p95, {size:,} rows", ratio, HTTP_TO_SQL_P95)
        if size == WIDE_SIZE and results["about"]["dim"] == WIDE_DIM:
            leg = alone[Side.VECTORS]["p50"]
            yield Target(f"vector leg p50, {WIDE_DIM} dim, {size:,} rows, ms", leg, WIDE_MS)


def _check_near(results: Results) -> Iterator[Target]:
    for row in results.get("near", []):
        size = row["size"]
        if size in SQL_P50_MS:
            what = f"SQL p50 with an approximate index, {size:,} rows, ms"
            yield Target(what, row[Side.SQL]["p50"], SQL_P50_MS[size])
        if size == 100_000:
            ratio = row[Side.HTTP]["p95"] / row[Side.SQL]["p95"]
            yield Target(f"HTTP p95 / SQL p95 with one, {size:,} rows", ratio, HTTP_TO_SQL_P95)


def _check_quality(results: Results) -> Iterator[Target]:
    for row in results.get("exactness", []):
        overlap = row["lexical_overlap_at_10"]
        yield Target(f"overlap@10 with BM25, {row['size']:,} rows", overlap, OVERLAP_AT_10, True)


def _check_throughput(results: Results) -> Iterator[Target]:
    for row in results.get("throughput", []):
        if row["size"] == 1_000 and "minilm" in results["about"]["embedder"].lower():
            what = f"searches/s, 4 clients, {row['size']:,} rows"
            yield Target(what, row["per_second"], SEARCHES_A_SECOND, True)
    for side, own in results.get("growth", {}).items():
        ratio = own["full"]["p50"] / own["small"]["p50"]
        yield Target(f"{side} p50 with 100 × the rows of others / without", ratio, GROWTH)


def _check_writes(results: Results) -> Iterator[Target]:
    ingest = results.get("ingest")
    if ingest:
        one, many = ingest[Side.ADD_MESSAGE], ingest[Side.ADD_MESSAGES]
        yield Target("add_message/s", one["requests_a_second"], ADD_MESSAGE_A_SECOND, True)
        yield Target(
            "messages/s by add_messages", many["messages_a_second"], ADD_MESSAGES_A_SECOND, True
        )
    if "pipeline" in results:
        speed = results["pipeline"]["messages_a_second"]
        yield Target("messages/s through the pipeline", speed, PIPELINE_A_SECOND, True)
