"""The benchmark runs from its command line, at a size of seconds, and says what it measured."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from django.conf import settings

from tests.server import throwaway_folder
from tests.template import for_benchmarks

# The pipeline and many clients are only slow here: their code is the product's.
PARTS = ["latency", "growth", "exactness", "sizes", "writing", "pipeline", "ingest"]
SIZE = ["--scale=0.002", "--seconds=0.3", "--questions=10", "--exact-questions=3"]
SIDES = {"sql", "embedding + sql", "http"}
ENDS = "sql", "http"


@pytest.mark.gate
def test_a_run_measures_everything_and_leaves_its_folder_empty() -> None:
    with throwaway_folder() as folder:
        data, out = folder / "var", folder / "out"
        command = [sys.executable, "-m", "bench.retrieval", f"--data-dir={data}", f"--out={out}"]
        done = subprocess.run(
            [*command, *SIZE, "--pipeline-messages=40", "--parts", *PARTS],
            cwd=settings.BASE_DIR,
            env=for_benchmarks(),
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        results = json.loads((out / "results.json").read_text())
        assert (out / "latency.png").read_bytes().startswith(b"\x89PNG")
        assert not (data / "postgres").exists()
    assert set(PARTS) <= set(results)
    for row in results["latency"]:
        for clients in ("1", "8"):
            assert set(row[clients]) >= SIDES
            assert all(row[clients][side]["p50"] > 0 for side in SIDES)
    # The product cannot be faster than the statements that it runs: all in all, as each figure
    # of a few milliseconds is measured at a moment of its own.
    alone, served = (sum(row["1"][side]["p50"] for row in results["latency"]) for side in ENDS)
    assert served > alone
    for row in results["exactness"]:
        assert row["vector_recall_at_100"] == 1.0
        assert row["lexical_overlap_at_10"] >= 0.97
    assert results["pipeline"]["episodes"] >= 4
    assert "http p50" in done.stdout and "target" in done.stdout
