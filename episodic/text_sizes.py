"""Counts and cuts words, also in scripts without spaces."""

import re

_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_UNIT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]|[^\s\u3040-\u30ff\u3400-\u9fff]+")
_ENDLESS = re.compile(r"([^\s\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]{40})\S{10,}")
"""A run of letters that is no word: a key, a URL, a held-down key."""
_LETTERS_A_WORD = 20
CHARACTERS_A_WORD = 2
"""A Chinese word has two characters on average."""


def is_spaceless(text: str) -> bool:
    """Is most of the text in a script that writes no spaces (Chinese, Japanese, Thai)?"""
    letters = sum(character.isalpha() for character in text)
    return 2 * len(_SPACELESS.findall(text)) > letters > 0


def count_words(text: str) -> int:
    """Return the number of words; two characters without spaces count as one, rounded up."""
    spaceless = len(_SPACELESS.findall(text))
    spaced = sum(any(map(str.isalnum, word)) for word in _SPACELESS.sub(" ", text).split())
    return spaced + -(-spaceless // CHARACTERS_A_WORD)


def clip_words(text: str, at_most: int) -> str:
    """Return the beginning of `text` with at most that many words, with "…" if it was cut.

    Runs of 50 letters or more are cut to 40, and so are long runs of punctuation.
    """
    text = _ENDLESS.sub(r"\1…", text)
    longest = at_most * _LETTERS_A_WORD
    if count_words(text[:longest]) <= at_most:
        return text if len(text) <= longest else text[:longest] + "…"
    end = 0
    for unit in _UNIT.finditer(text):
        if count_words(text[: unit.end()]) > at_most:
            break
        end = unit.end()
    return text[:end].rstrip(" ,;:，、；：-–") + "…"
