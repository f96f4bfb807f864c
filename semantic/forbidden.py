"""Finds the words in a text that an operator has forbidden. Pure."""

from collections.abc import Iterable

from memoryproject.text.words import HAN_RUN, WORD, stem


def contains(text: str, phrases: Iterable[str]) -> bool:
    """Return whether the text has all words of a phrase, one after the other, whatever their case.

    Words are compared by their stems, so that "credit card" forbids "credit cards".
    """
    words = _stem_all(text)
    return any(_occurs(phrase, words, text) for phrase in phrases)


def _occurs(phrase: str, words: str, text: str) -> bool:
    if HAN_RUN.search(phrase):  # written without spaces
        return phrase.casefold() in text.casefold()
    sought = _stem_all(phrase)
    return bool(sought.strip()) and sought in words


def _stem_all(text: str) -> str:
    """Return the stems of the words, each between spaces."""
    words = WORD.findall(text.replace("’", "'").casefold())
    return f" {' '.join(map(stem, words))} "
