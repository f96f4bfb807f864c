"""Knows the version of the server, and whether it was installed from a wheel or is a clone."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds `manage.py`: a clone, or `memory_server` in site-packages."""
VERSION: str = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "version"
]
