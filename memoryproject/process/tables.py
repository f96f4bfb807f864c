"""Reads files of constants, which stand beside the modules that use them."""

import tomllib
from pathlib import Path
from typing import Any


def read_table(module: str, name: str = "") -> dict[str, Any]:
    """Return the TOML file of a module's own name, or of another one, in the same folder."""
    file = Path(module)
    file = file.with_name(f"{name or file.stem}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))
