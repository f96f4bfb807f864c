"""Converts messages in the format of OpenAI's chat API into ours."""

from collections.abc import Mapping
from typing import Any

from episodic.models import Role

DEVELOPER = "developer"
"""Role that OpenAI's newer models use in place of "system"."""
ROLES = (*Role.choices, (DEVELOPER, "developer, stored as system"))
KEPT = ("external_id", "tool_calls", "tool_call_id")
"""Keys that go into the metadata as they came."""


def join_parts(content: Any) -> Any:
    """Return the text of a list of content parts, a line break between two.

    A part without text becomes its type, as in `[image_url]`. A value that is not a list of parts
    is returned unchanged, for a field to validate.
    """
    if not isinstance(content, list) or not all(map(_is_part, content)):
        return content
    return "\n".join(part.get("text", f"[{part['type']}]") for part in content)


def keep_in_metadata(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message with its values for KEPT copied into its metadata.

    A message without content gets the names of the tools that it calls.
    """
    kept = {name: value[name] for name in KEPT if value.get(name)}
    if not kept:
        return value
    calls = kept.get("tool_calls")
    names = [_name_call(call) for call in calls] if isinstance(calls, list) else []
    named = "\n".join(f"[tool call: {name}]" for name in names if name)
    metadata = value.get("metadata") or {}
    merged = {**metadata, **kept} if isinstance(metadata, Mapping) else metadata
    return {**value, "metadata": merged, "content": value.get("content") or named}


def _is_part(part: Any) -> bool:
    return (
        isinstance(part, dict)
        and isinstance(part.get("type"), str)
        and isinstance(part.get("text", ""), str)
    )


def _name_call(call: Any) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else ""
