"""Starts the web server, by a command or forked from a process that has loaded it."""

import atexit
import os
import sys
import tempfile
from contextvars import Context
from pathlib import Path

from gunicorn.app.wsgiapp import WSGIApplication

# Not by the settings: benchmarks name the command before there are any.
CONFIG = Path(__file__).resolve().parents[2] / "gunicorn.conf.py"
COUNTS = "PROMETHEUS_MULTIPROC_DIR"


def web_command(host: str, port: int) -> list[str]:
    options = [f"--config={CONFIG}", f"--bind={host}:{port}"]
    return [sys.executable, "-m", "gunicorn", "memoryproject.wsgi", *options]


def share_counts() -> str:
    """Return the folder for the counters of web processes; call it before importing the library.

    prometheus_client checks only once whether there is one.
    """
    if not os.environ.get(COUNTS):
        os.environ[COUNTS] = tempfile.mkdtemp(prefix="memory-metrics-")
    return os.environ[COUNTS]


def serve(host: str, port: int) -> None:
    """Run the web server, in a process forked for it."""
    sys.argv = web_command(host, port)[2:]
    try:
        # Whose rows this process sees is nothing that requests are to inherit.
        Context().run(WSGIApplication("%(prog)s [OPTIONS] [APP_MODULE]").run)
    finally:
        atexit._run_exitfuncs()  # a process of multiprocessing leaves them out
