"""Knows the version of the server, and whether it was installed from a wheel or is a clone."""

import os
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds `manage.py`: a clone, or `memory_server` in site-packages."""
IS_WHEEL = (ROOT / "__init__.py").exists()
VERSION: str = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "version"
]
COMMAND = "memory-server" if IS_WHEEL else "make"
"""What stands before `run`, `login` and `stop`."""


def _find_data_dir() -> Path:
    """Return the data folder where MEMORY_DATA_DIR names none.

    Beside a wheel it would go with an upgrade: it is the user's, as the XDG specification says.
    """
    if not IS_WHEEL:
        return ROOT / "var"
    share = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(share, "memory-server").expanduser()


DATA_DIR = _find_data_dir()
