"""Finds the known fact that a model refers to, however carelessly. Pure."""

import re
from collections.abc import Sequence

from semantic.engines import KnownFact

ALIAS = re.compile(r"[^\w-]*(?:[Ff]|[Ff]act\W*)?(\d{1,6})\W*(?:[\[(:].*)?", re.DOTALL)
"""Only the number counts; if the model repeats the fact after it, that is ignored."""
WORD = re.compile(r"\w+")


def find_fact(ref: str, known: Sequence[KnownFact]) -> KnownFact | None:
    """Return the fact with that alias, or that number ("f1", "[F1]", "1"), or that sentence.

    None where that is none of the known facts, or several. An alias of another kind, such as
    "P0" or the "X1" of the prompt's example, names no fact.
    """
    named = ref.strip()
    sentence = _read_words(named)
    same = [fact for fact in known if sentence and _read_words(fact.fact) == sentence]
    if len(same) == 1:
        return same[0]
    match = ALIAS.fullmatch(named)
    alias = f"F{int(match[1])}" if match else ""
    return next((fact for fact in known if fact.alias == alias), None)


def _read_words(text: str) -> str:
    return " ".join(WORD.findall(text.casefold()))
