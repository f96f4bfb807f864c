"""What one run of the benchmark is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

LOCAL_DIM = 384
"""Size of the vectors of the embedders that come with the server."""

PARTS = (
    "latency", "throughput", "growth", "exactness", "near", "users", "sizes", "writing", "pipeline",
    "ingest",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read. `scale` 1.0 is a million facts and 200,000 episodes."""

    data_dir: Path
    out: Path
    scale: float
    full_sizes: bool
    dim: int
    seed: int
    seconds: float
    """For each side of each comparison."""
    questions: int
    """At most, for each side of each comparison with one client."""
    exact_questions: int
    pipeline_messages: int
    keep: bool
    parts: frozenset[str]
    synthetic_embedder: bool
    """Whether queries are embedded by our own loopback endpoint, not by a real model."""
