"""Cutting a text to a size, in one of three ways: formulas only.

What is missing is marked, and the mark counts. A word is not parted where scripts put spaces
between words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import StrEnum

ELLIPSIS = "…"
GAP = " […] "
HEAD_SHARE = 0.6
"""Of what is kept, where the middle is left out."""
LONGEST_WORD = 40
"""Characters; a longer run without a space may be parted."""
UNSPACED = "\u0e00"
"""From here on, scripts put no spaces between words (and the others that do come before)."""
SENTENCE_END = re.compile(
    r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bSt)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)(?<!\b[A-Z])"
    r"[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+[」』”’）]*|(?=\n)"
)

Count = Callable[[str], int]
Fits = Callable[[str], bool]


class Strategy(StrEnum):
    """What is left out of a text that is too long. Where little fits, all are as END."""

    END = "end"
    SENTENCE = "sentence"
    """As END, but after the last whole sentence that fits."""
    MIDDLE = "middle"


def cut(text: str, *, at_most: int, strategy: Strategy, count: Count) -> str:
    """Return the text, or as much of it as `count` finds no larger than `at_most`.

    What is left ends in "…", or has " […] " in its midst; it is empty where nothing fits.
    """

    def fits(part: str) -> bool:
        return count(part) <= at_most

    if fits(text):
        return text
    kept = ""
    if strategy is Strategy.MIDDLE:
        kept = _find_largest(len(text) - 1, lambda size: _keep_both_ends(text, size), fits)
    if strategy is Strategy.SENTENCE:
        ends = [found.end() for found in SENTENCE_END.finditer(text) if found.end() < len(text)]
        kept = _find_largest(len(ends), lambda size: _keep_sentences(text, ends[:size]), fits)
    return kept or _find_largest(len(text) - 1, lambda size: _keep_beginning(text, size), fits)


def _find_largest(at_most: int, render: Callable[[int], str], fits: Fits) -> str:
    """Return what is rendered of the largest number that fits; what 0 renders is empty."""
    best, low, high = "", 0, at_most
    while low < high:
        middle = (low + high + 1) // 2
        part = render(middle)
        if fits(part):
            best, low = part, middle
        else:
            high = middle - 1
    return best


def _keep_beginning(text: str, kept: int) -> str:
    head = text[: _before_word(text, kept)].rstrip()
    return head + ELLIPSIS if head else ""


def _keep_sentences(text: str, ends: list[int]) -> str:
    head = text[: ends[-1]].rstrip() if ends else ""
    return f"{head} {ELLIPSIS}" if head else ""


def _keep_both_ends(text: str, kept: int) -> str:
    of_head = math.ceil(HEAD_SHARE * kept)
    start = len(text) - (kept - of_head)
    head = text[: _before_word(text, of_head)].rstrip()
    tail = text[_behind_word(text, start) :].lstrip()
    return (head + GAP + tail).rstrip() if head else ""


def _before_word(text: str, place: int) -> int:
    """Return where the word that a cut at `place` would part begins, if that is near."""
    start = place
    while place - start < LONGEST_WORD:
        if start == 0 or not (_is_in_word(text[start - 1]) and _is_in_word(text[start])):
            return start
        start -= 1
    return place


def _behind_word(text: str, place: int) -> int:
    """Return where the word that a cut at `place` would part ends, if that is near."""
    end = place
    while end - place < LONGEST_WORD:
        if end == len(text) or not (_is_in_word(text[end - 1]) and _is_in_word(text[end])):
            return end
        end += 1
    return place


def _is_in_word(character: str) -> bool:
    return character < UNSPACED and not character.isspace()
