"""What the admin says for codes of tables and fields of forms, and its tour: `texts.toml`."""

from typing import Any

from memoryproject.process.tables import read_table

_PARTS = read_table(__file__)
TOUR: list[dict[str, str]] = _PARTS.pop("tour")
FORMS: dict[str, dict[str, dict[str, Any]]] = _PARTS.pop("forms")
"""The `label`, `help`, and `errors` by code of each field, by form."""
TEXTS: dict[str, dict[str, str]] = _PARTS
