"""Benchmarks run from their command lines, at a size of seconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.template import for_benchmarks

SIZE = ["--sizes", "50", "200", "--tenants=5", "--connections=10", "--hold=0.05", "--seconds=1"]


@pytest.mark.gate
@pytest.mark.parametrize(
    ("module", "rows"),
    [
        (["bench.claims", *SIZE], ["50", "200"]),
        (["bench.embedding"], ["in", "by"]),
        (["bench.memory", "--calls=5", "--settle=1"], ["at", "after", "after"]),
    ],
)
def test_a_run_prints_a_line_for_each_side(
    module: list[str], rows: list[str], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *module],
        cwd=settings.BASE_DIR,
        env={**for_benchmarks(), "MEMORY_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line.split() for line in done.stdout.splitlines()[1:]]
    assert [line[0] for line in lines] == rows
    figures = [float(cell) for line in lines for cell in line[-3:]]
    assert len(figures) == 3 * len(rows) and all(figure > 0 for figure in figures)
