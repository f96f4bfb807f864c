"""The benchmark of links and of searches runs from its command line, at a size of seconds."""

from __future__ import annotations

import subprocess
import sys

import pytest
from django.conf import settings

from tests.server import throwaway_folder
from tests.template import for_benchmarks

SIZE = ["--notes=2000", "--links=6000", "--hubs=2", "--hub-links=500", "--times=2"]


@pytest.mark.gate
def test_a_run_prints_a_line_for_each_sort_and_leaves_its_folder_empty() -> None:
    with throwaway_folder() as folder:
        data = folder / "var"
        done = subprocess.run(
            [sys.executable, "-m", "bench.graph", f"--data-dir={data}", *SIZE],
            cwd=settings.BASE_DIR,
            env=for_benchmarks(),
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert not (data / "postgres").exists()
    walks, searches, looks = read_tables(done.stdout)
    assert len(walks) == 12
    of_hubs = [line for line in walks if line[0] == "a hub"]
    assert int(of_hubs[0][2]) > 400 and int(of_hubs[-1][2]) == 1000
    assert of_hubs[-1][3] == "100 %"
    matched = {line[0]: int(line[1].replace(",", "")) for line in searches}
    assert len(matched) == 10 and matched["`*`"] == 1990
    assert 0 < matched["15 words, one user of 100"] < matched["15 words"]
    assert all(float(line[6]) > 0 for line in searches[2:])
    assert len(looks) == 6 and all(float(line[3]) > 0 for line in looks)


def read_tables(printed: str) -> list[list[list[str]]]:
    """Return the cells of each line of each table."""
    tables: list[list[list[str]]] = []
    for line in printed.splitlines():
        if line.startswith("|---"):
            tables.append([])
        elif tables and not line.endswith((" ms |", "| p95 |", "SQL) |")):
            tables[-1].append([cell.strip() for cell in line.strip("|").split("|")])
    return tables
