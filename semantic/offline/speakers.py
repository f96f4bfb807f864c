"""Names who spoke each message; agents may write "Priya: I live in Graz" for several people."""

import re
from collections.abc import Iterable

from episodic.engines import Line

NAMELESS = "User"
PREFIX = re.compile(r"^(?:\[(?P<a>[^\]\n:]{1,40})\]|(?P<b>[^\s:：\[\]][^:：\n\[\]]{0,39})[:：])\s+")


def name_speakers(lines: Iterable[Line]) -> dict[int, tuple[str, str]]:
    """Return by seq who spoke, and the words without a speaker prefix.

    Prefixes count as names only if every message without a name has one, and they differ.
    """
    lines = list(lines)
    prefixes = {line.seq: PREFIX.match(line.content) for line in lines if not line.name}
    names = {match["a"] or match["b"] for match in prefixes.values() if match}
    has_names = all(prefixes.values()) and len(names) > 1
    return {
        line.seq: (
            (match["a"] or match["b"], line.content[match.end() :])
            if has_names and (match := prefixes.get(line.seq))
            else (line.name or NAMELESS, line.content)
        )
        for line in lines
    }
