"""What a question says beyond its words: who it asks about."""

from __future__ import annotations

import re
from collections.abc import Iterable

from indexing.text import UNSPACED


def speakers_named(question: str, speakers: Iterable[str]) -> frozenset[str]:
    """Return those of the speakers whose name, or its first word, stands in the question."""
    asked = question.casefold()
    return frozenset(speaker for speaker in set(speakers) if _names(asked, speaker.casefold()))


def _names(asked: str, speaker: str) -> bool:
    return any(_stands_in(name, asked) for name in {speaker, *speaker.split()[:1]} if name)


def _stands_in(name: str, asked: str) -> bool:
    """Return whether a name is there as a whole word; some scripts do not part their words."""
    if UNSPACED.search(name):
        return name in asked
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", asked) is not None
