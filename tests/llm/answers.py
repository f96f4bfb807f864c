"""Well-formed answers of a model, for tests to use or to break, and readers of its prompts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tests.model_server import Asked

SHOWN_FACT = re.compile(r"^(F\d+) \[\w+\] (.+) \(since ", re.MULTILINE)
SHOWN_LINE = re.compile(r"^(\d+) \[", re.MULTILINE)
SHOWN_MEMORY = re.compile(r"^(E\d+): (.+?)\. ", re.MULTILINE)


def segment(last: int, title: str = "", **changed: Any) -> dict[str, Any]:
    """One episode up to a message, with words of its own."""
    words = {
        "title": title or f"Mira and Jonas talk, up to {last}",
        "summary": f"Mira and Jonas talk about what stands before line {last}.",
    }
    return {"last": last, **words, "surprise": "low", **changed}


def segments(*episodes: dict[str, Any]) -> dict[str, Any]:
    return {"episodes": list(episodes)}


def change(
    action: str,
    text: str = "",
    ref: str | None = None,
    *,
    category: str = "experience",
    messages: Sequence[int] = (1,),
    since: str = "",
    until: str = "",
) -> dict[str, Any]:
    """One change, for `changes`; message 1 says so."""
    row: dict[str, Any] = {"action": action, "ref": ref, "msgs": list(messages)}
    if action in {"new", "update"}:
        row |= {"text": text, "when": f"{since}/{until}" if until else since}
        row |= {"cat": category} if action == "new" else {}
    elif action == "invalidate":
        row |= {"until": until}
    return row


def changes(*rows: dict[str, Any]) -> dict[str, Any]:
    """An answer that has each change in its list."""
    lists: dict[str, Any] = {"update": [], "invalidate": [], "reinforce": [], "new": []}
    for row in rows:
        rest = {key: value for key, value in row.items() if key != "action"}
        lists[row["action"]].append(rest)
    return lists


def ratings(**by_alias: str) -> dict[str, Any]:
    return {"ratings": [{"ref": ref, "rating": rating} for ref, rating in by_alias.items()]}


def shown_facts(asked: Asked) -> dict[str, str]:
    """Return the alias of each fact that the prompt shows, by its sentence."""
    return {sentence: alias for alias, sentence in SHOWN_FACT.findall(asked.user)}


def shown_lines(asked: Asked) -> list[int]:
    """Return the numbers of the lines that the prompt shows."""
    return [int(number) for number in SHOWN_LINE.findall(asked.user)]


def shown_memories(asked: Asked) -> dict[str, str]:
    """Return the alias of each episode that the prompt shows, by its title."""
    return {title: alias for alias, title in SHOWN_MEMORY.findall(asked.user)}
