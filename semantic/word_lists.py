"""Lets a list of words be read as one line of text."""

from __future__ import annotations


def split_words(text: str) -> frozenset[str]:
    """Return the words of `text`, which are set apart by spaces."""
    return frozenset(text.split())
