"""What the admin says for codes of tables and fields of forms, and its tour: `texts.toml`."""

import tomllib
from pathlib import Path
from typing import Any

_PARTS: dict[str, Any] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
TOUR: list[dict[str, str]] = _PARTS.pop("tour")
FORMS: dict[str, dict[str, dict[str, Any]]] = _PARTS.pop("forms")
"""By form and field: `label`, `help`, and `errors` by their codes."""
TEXTS: dict[str, dict[str, str]] = _PARTS
