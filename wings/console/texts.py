"""The admin's texts for codes and form fields, and its tour: `texts.toml`."""

from typing import Any

from memoryproject.process.tables import read_table

_PARTS = read_table(__file__)
TOUR: list[dict[str, str]] = _PARTS.pop("tour")
FORMS: dict[str, dict[str, dict[str, Any]]] = _PARTS.pop("forms")
"""Per form and field: `label`, `help`, and `errors` by code."""
TEXTS: dict[str, dict[str, str]] = _PARTS
