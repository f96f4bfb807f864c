"""Recognizes explicit corrections of the last statement: "Sorry, I meant Bergen."."""

from semantic.patterns import read_pattern

CUE = read_pattern("corrections.cue")


def corrects(text: str) -> bool:
    """Return whether a sentence says explicitly that it corrects another."""
    return not text.endswith(("?", "？", "؟")) and CUE.search(text) is not None
