"""Tells explicit corrections of what was just said: "Sorry, I meant Bergen."."""

from semantic.patterns import read_pattern

CUE = read_pattern("corrections.cue")


def corrects(text: str) -> bool:
    """Whether a sentence says in words that it puts something right."""
    return not text.endswith(("?", "？", "؟")) and CUE.search(text) is not None
