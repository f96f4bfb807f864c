"""Real processes of the product, for tests that need more than this one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

PATIENCE_S = 120


@contextmanager
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """Run `manage.py worker` until the block ends."""
    process = subprocess.Popen(
        [sys.executable, str(settings.BASE_DIR / "manage.py"), "worker"],
        env={**os.environ, "MEMORY_WORKERS": "1"},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=PATIENCE_S)
