"""Says who speaks a line, to whom, and in whose company."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from episodic.engines import Line
from semantic.sentences import Script

ASSISTANT_NAMES = frozenset({"assistant", "ai", "bot", "助手", "system"})
COMPANY = re.compile(
    r"\b(?:with|and|took|brought|my|our) (?:my |the |our )?(?P<who>(?:\w+ )?(?:kids|family|fam|"
    r"husband|wife|friends?|"
    r"children|son|daughter|mom|mum|dad|parents|girlfriend|boyfriend|partner|sister|brother|"
    r"team|colleagues))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who says a line and to whom; `listener` is empty where it is not clear.

    `is_person` is False for an assistant without a name of its own.
    """

    name: str
    listener: str
    is_person: bool


def people_in(lines: Sequence[Line]) -> frozenset[str]:
    """Return the names of the people who speak; an assistant called so is none."""
    spoken = (line.name for line in lines if line.role in {"user", "assistant"})
    return frozenset(name for name in spoken if name and name.lower() not in ASSISTANT_NAMES)


def identify_speaker(line: Line, *, names: frozenset[str], script: Script) -> Speaker:
    """Return who speaks and who listens, in the words of the fact's language."""
    user, assistant = ("用户", "助手") if script is Script.CHINESE else ("User", "Assistant")
    named = bool(line.name) and line.name.lower() not in ASSISTANT_NAMES
    if named or line.role == "user":
        others = names - {line.name}
        nobody = assistant if line.role == "user" else user
        listener = next(iter(others)) if len(others) == 1 else "" if others else nobody
        return Speaker(line.name if named else user, listener, True)
    listener = next(iter(names)) if len(names) == 1 else "" if names else user
    return Speaker(assistant, listener, False)


def find_company(text: str, name: str) -> str:
    """Return whom "we" adds to the speaker, if the message says so: "their family"."""
    match = COMPANY.search(text)
    return f"their {match['who'].lower()}" if match else ""
