"""Cuts texts to what one search unit holds."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

NUMBERS_A_UNIT = 300
"""What `memory_words` keeps: one for each word and one more for each that is repeated.

An index row of 2,704 bytes holds that many.
"""


def cut(own: str, *, neighbours: Sequence[str] = ()) -> list[str]:
    """Return texts, prepared, that each fit a unit; together they hold all of `own`.

    Where it fits one unit, `neighbours`, the nearest first, fill the room that is left.
    """
    pieces = list(_fill(own.split()))
    if len(pieces) > 1:
        return [" ".join(piece) for piece in pieces]
    words = pieces[0] if pieces else []
    around = (word for text in neighbours for word in text.split())
    return [" ".join(next(_fill(chain(words, around)), []))]


def _fill(words: Iterable[str]) -> Iterator[list[str]]:
    """Yield the words in runs, each as long as fits."""
    piece: list[str] = []
    counts: Counter[str] = Counter()
    filled = 0
    for word in words:
        needs = 1 if counts[word] < 2 else 0
        if filled + needs > NUMBERS_A_UNIT:
            yield piece
            piece, counts, filled, needs = [], Counter(), 0, 1
        piece.append(word)
        counts[word] += 1
        filled += needs
    if piece:
        yield piece
