"""The embedded model stands in memory once: processes that were forked share it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

PRIVATE_MB_AT_MOST = 30
"""Of a process that embeds: buffers, and words that it remembers. With a copy it has 100."""
PROGRAM = """
import os, sys
import django
django.setup()
import numpy as np
from memoryproject.ai.e5 import load_e5
from memoryproject.process.loading import load_shared_models

def measure():
    rows = open("/proc/self/smaps_rollup").read().splitlines()
    return sum(int(row.split()[1]) for row in rows if row.startswith("Private_Dirty:")) / 1024

load_shared_models()
threads = len(os.listdir("/proc/self/task"))
vector = load_e5().embed("passage: Ana lives in Porto.")
pid = os.fork()
if pid:
    print(threads, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    sys.exit()
for number in range(300):
    load_e5().embed(f"passage: Ana{number * 7919} lives in Quito{number}, near the violins.")
same = np.array_equal(load_e5().embed("passage: Ana lives in Porto."), vector)
print(measure(), same, flush=True)
"""


@pytest.mark.gate
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process shares")
def test_a_forked_process_embeds_alike_shares_the_model_and_ends_well(tmp_path: Path) -> None:
    """onnxruntime's telemetry would be a thread, without which no fork of it could end."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "MEMORY_LLM": "offline", "MEMORY_DATA_DIR": str(tmp_path)},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    private_mb, same, threads, code = done.stdout.split()
    assert (same, threads, code) == ("True", "1", "0"), done.stderr
    assert float(private_mb) < PRIVATE_MB_AT_MOST


@pytest.mark.gate
@pytest.mark.parametrize("llm", ["offline", "openai"])
def test_the_package_is_loaded_before_a_fork_where_an_endpoint_is_asked(
    llm: str, tmp_path: Path
) -> None:
    """Else each process would import it for itself, with 19 MB."""
    program = (
        "import sys, django; django.setup();"
        "from memoryproject.process.loading import load_shared_models;"
        "load_shared_models(); print('openai' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "MEMORY_LLM": llm, "MEMORY_DATA_DIR": str(tmp_path)},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stdout.strip() == str(llm == "openai"), done.stderr
