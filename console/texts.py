"""What the admin says for the codes that tables hold, read from `texts.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path

TEXTS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
