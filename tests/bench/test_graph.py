"""The benchmark of links runs from its command line, at a size of seconds."""

from __future__ import annotations

import os
import subprocess
import sys

from django.conf import settings

from tests.server import throwaway_folder

SIZE = ["--notes=2000", "--links=6000", "--hubs=2", "--hub-links=500", "--times=2"]


def test_a_run_prints_a_line_for_each_sort_and_depth_and_leaves_its_folder_empty() -> None:
    with throwaway_folder() as folder:
        data = folder / "var"
        done = subprocess.run(
            [sys.executable, "-m", "bench.graph", f"--data-dir={data}", *SIZE],
            cwd=settings.BASE_DIR,
            env=os.environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert not (data / "postgres").exists()
    lines = [line.split(" | ") for line in done.stdout.splitlines()[2:]]
    assert len(lines) == 12
    of_hubs = [line for line in lines if line[0] == "| a hub"]
    assert int(of_hubs[0][2]) > 400 and int(of_hubs[-1][2]) == 1000
    assert of_hubs[-1][3] == "100 %"
