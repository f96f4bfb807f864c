"""Reads files of constants beside the modules that use them."""

import tomllib
from pathlib import Path
from typing import Any


def read_table(module: str, name: str = "") -> dict[str, Any]:
    """Return the TOML file named like a module, or another one, in its folder."""
    file = Path(module)
    file = file.with_name(f"{name or file.stem}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))
