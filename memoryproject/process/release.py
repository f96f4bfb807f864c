"""The server's version, and whether it is installed from a wheel or is a clone."""

import os
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Folder of `manage.py`: a clone, or `memory_server` in site-packages."""
IS_WHEEL = (ROOT / "__init__.py").exists()
VERSION: str = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "version"
]
COMMAND = "memory-server" if IS_WHEEL else "make"
"""Prefix of the commands `run`, `login` and `stop`."""


def _find_data_dir() -> Path:
    """Return the data folder if MEMORY_DATA_DIR names none.

    For a wheel it is in the user's home, by the XDG specification, as an upgrade replaces the
    wheel.
    """
    if not IS_WHEEL:
        return ROOT / "var"
    share = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(share, "memory-server").expanduser()


DATA_DIR = _find_data_dir()
