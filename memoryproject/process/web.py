"""How the web server is started."""

import sys
from pathlib import Path

# Not by the settings: benchmarks name the command before there are any.
CONFIG = Path(__file__).resolve().parents[2] / "gunicorn.conf.py"


def web_command(host: str, port: int) -> list[str]:
    """Return the command line of the web server."""
    return [
        sys.executable,
        "-m",
        "gunicorn",
        "memoryproject.wsgi",
        f"--config={CONFIG}",
        f"--bind={host}:{port}",
    ]
