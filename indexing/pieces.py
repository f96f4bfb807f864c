"""Splits texts to the size of a search unit."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

NUMBERS_A_UNIT = 300
"""Numbers that `memory_words` keeps: one for each word, and one more for each repeated word.

That many fit into an index row of 2,704 bytes.
"""


def cut(own: str, *, neighbours: Sequence[str] = ()) -> list[str]:
    """Return texts, prepared, that each fit a unit; together they hold all of `own`.

    Where it fits one unit, `neighbours`, the nearest first, fill the room that is left.
    """
    words = own.split()
    # No need to count if all words would fit even without repetitions.
    if len(words) > NUMBERS_A_UNIT:
        pieces = list(_fill(words))
        if len(pieces) > 1:
            return [" ".join(piece) for piece in pieces]
    if not neighbours:
        return [" ".join(words)]
    around = (word for text in neighbours for word in text.split())
    return [" ".join(next(_fill(chain(words, around)), []))]


def _fill(words: Iterable[str]) -> Iterator[list[str]]:
    """Yield runs of words, each as long as fits."""
    piece: list[str] = []
    counts: dict[str, int] = {}  # a Counter takes twice as long
    filled = 0
    for word in words:
        count = counts.get(word, 0)
        if count < 2:
            if filled == NUMBERS_A_UNIT:
                yield piece
                piece, counts, filled, count = [], {}, 0, 0
            filled += 1
        piece.append(word)
        counts[word] = count + 1
    if piece:
        yield piece
