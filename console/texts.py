"""What the admin says for the codes that tables hold, and its tour, read from `texts.toml`."""

import tomllib
from pathlib import Path
from typing import Any

_PARTS: dict[str, Any] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
TOUR: list[dict[str, str]] = _PARTS.pop("tour")
TEXTS: dict[str, dict[str, str]] = _PARTS
