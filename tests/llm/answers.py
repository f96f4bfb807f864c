"""Well-formed answers of a model, for tests to use or to break, and readers of its prompts."""

from __future__ import annotations

import re
from typing import Any

from tests.model_server import Asked

SHOWN_FACT = re.compile(r"^(F\d+) \[\w+\] (.+) \(since ", re.MULTILINE)
SHOWN_MEMORY = re.compile(r"^(E\d+): (.+?)\. ", re.MULTILINE)


def segment(first: int, last: int, title: str = "", **changed: Any) -> dict[str, Any]:
    """One episode, with words of its own."""
    words = {
        "title": title or f"Mira and Jonas talk, from {first} on",
        "summary": f"Mira and Jonas talk about what stands in lines {first} to {last}.",
    }
    return {"reasoning": "", "first": first, "last": last, **words, "surprise": "low", **changed}


def segments(*episodes: dict[str, Any]) -> dict[str, Any]:
    return {"episodes": list(episodes)}


def change(action: str, fact: str, alias: str | None = None, **changed: Any) -> dict[str, Any]:
    """One change; message 1 of the first episode says so."""
    row = {
        "reasoning": "",
        "action": action,
        "alias": alias,
        "category": "experience",
        "fact": fact,
        "keywords": ["Mira"],
        "episode": "E1",
        "messages": [1],
    }
    return {**row, **changed}


def changes(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"facts": list(rows)}


def ratings(**by_alias: str) -> dict[str, Any]:
    rows = [
        {"reasoning": "", "alias": alias, "rating": rating} for alias, rating in by_alias.items()
    ]
    return {"ratings": rows}


def shown_facts(asked: Asked) -> dict[str, str]:
    """Return the alias of each fact that the prompt shows, by its sentence."""
    return {sentence: alias for alias, sentence in SHOWN_FACT.findall(asked.user)}


def shown_memories(asked: Asked) -> dict[str, str]:
    """Return the alias of each episode that the prompt shows, by its title."""
    return {title: alias for alias, title in SHOWN_MEMORY.findall(asked.user)}
