"""What costs memory and time is loaded by those who use it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

PROGRAM = """
import sys
import django
django.setup()
from memoryproject.ai import embeddings, local_model
embeddings.get_embedder()
loaded = local_model.load_local_model.cache_info().currsize
print("onnxruntime" in sys.modules, "openai" in sys.modules, loaded)
"""


@pytest.mark.gate
def test_who_asks_for_no_vector_loads_no_model(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "MEMORY_LLM": "offline", "MEMORY_DATA_DIR": str(tmp_path)},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout.split() == ["False", "False", "0"], done.stderr
