"""How the web server is started."""

import sys
from pathlib import Path

from memoryproject.process import env

# Not by the settings: benchmarks name the command before there are any.
CONFIG = Path(__file__).resolve().parents[2] / "gunicorn.conf.py"


def web_command(host: str, port: int) -> list[str]:
    """Return the command line of the web server."""
    workers = env.read_integer("MEMORY_WEB_WORKERS", 2, at_least=1, at_most=64)
    return [
        sys.executable,
        "-m",
        "gunicorn",
        "memoryproject.wsgi",
        f"--config={CONFIG}",
        f"--bind={host}:{port}",
        f"--workers={workers}",
        "--log-level=warning",
        "--no-control-socket",
    ]
