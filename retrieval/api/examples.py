"""The examples in the description of the API: one session, from `examples.json`.

Search, peek, chunk and context, call by call.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from drf_spectacular.utils import OpenApiExample

EXAMPLES: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)


def list_examples(call: str) -> list[OpenApiExample]:
    """Return the examples of one call: of its body, and of its answer."""
    return [
        OpenApiExample(example["name"], value=example["request"], request_only=True)
        if "request" in example
        else OpenApiExample(
            example["name"],
            value=example["answer"],
            response_only=True,
            status_codes=[example.get("status", "200")],
            media_type=example.get("media_type", "application/json"),
        )
        for example in EXAMPLES[call]
    ]
