"""Compares sentences with what an operator wants kept and never kept, by words and by meaning."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from semantic.engines import Instructions
from semantic.forbidden import contains
from semantic.offline import heads

SIMILAR = 0.2
"""Least similarity, -1..1, of a sentence to an entry of the operator's that means it.

Tried on 59 sentences from a hotel, a school, a bakery and a gym: 12 of 14 unwanted sentences reach
it, as 2 of 17 others; 10 of 13 wanted ones, as 1 of 15 others.
"""
MARGIN = 0.03
"""By how much a sentence that is wanted, too, must be nearer to `never` than to `keep`."""


class Wish(StrEnum):
    """What an operator says of a sentence."""

    NONE = "none"
    KEEP = "keep"
    NEVER = "never"
    """It has the words of an entry."""
    LIKE_NEVER = "like_never"
    """It means something like an entry."""


class Wishes:
    """The instructions of an operator, with their vectors."""

    def __init__(
        self, instructions: Instructions, *, read: heads.Read, read_topics: heads.Read
    ) -> None:
        """`read_topics` returns vectors of an operator's entries, `read` those of sentences."""
        self._read = read
        self._never = instructions.never
        self._words = dict(instructions.words)
        self._like_never = scale_vectors(instructions.never, read_topics)
        self._like_keep = scale_vectors(instructions.keep, read_topics)

    def judge(self, texts: Sequence[str]) -> list[Wish]:
        """Return what the operator says of each sentence."""
        if not texts or not (len(self._like_never) or len(self._like_keep)):
            return [Wish.NONE] * len(texts)
        vectors = scale_vectors([self._explain(text) for text in texts], self._read)
        unwanted = (vectors @ self._like_never.T).max(axis=1, initial=-1)
        wanted = (vectors @ self._like_keep.T).max(axis=1, initial=-1)
        return list(map(self._decide, texts, unwanted, wanted))

    def _decide(self, text: str, unwanted: float, wanted: float) -> Wish:
        if contains(text, self._never):
            return Wish.NEVER
        is_wanted = wanted >= SIMILAR
        if unwanted >= (max(SIMILAR, wanted + MARGIN) if is_wanted else SIMILAR):
            return Wish.LIKE_NEVER
        return Wish.KEEP if is_wanted else Wish.NONE

    def _explain(self, text: str) -> str:
        """Return a sentence with the meanings of its words of the trade behind it."""
        meanings = [self._words[word] for word in self._words if contains(text, [word])]
        return f"{text} ({'; '.join(meanings)})" if meanings else text


def scale_vectors(texts: Sequence[str], read: heads.Read) -> heads.Floats:
    """Return unit vectors, standardised as for the heads: unscaled ones are all alike."""
    known = heads.load_heads()
    size = (len(known.mean) - heads.TRAITS) // 2
    if not texts:
        return np.zeros((0, size))
    vectors = np.stack([one.vector for one in read(texts)]).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled = (vectors - known.mean[:size]) / known.deviation[:size]
    unit: heads.Floats = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return unit
