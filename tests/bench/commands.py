"""Runs a benchmark from its command line, at a size of seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.conf import settings

from tests.template import for_benchmarks


def run(*command: str, figures: Path) -> tuple[str, Any]:
    """Return what `python -m bench.…` prints, and the figures that it writes."""
    done = subprocess.run(
        [sys.executable, "-m", *command, f"--json={figures}"],
        cwd=settings.BASE_DIR,
        env=for_benchmarks(),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout, json.loads(figures.read_text(encoding="utf-8"))
