"""Finds the pieces of a vocabulary in a word, by hashes in arrays that processes share.

A dict of 250,000 strings takes 50 MB, and each look-up in it writes a counter of references:
every process that was forked from the one that holds it soon has a copy of its own.
"""

from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
BASE = 0x9E3779B97F4A7C15
"""Odd, so that it has an inverse among numbers of 64 bits."""
INVERSE = pow(BASE, -1, 2**64)


class Pieces:
    """The pieces of a vocabulary, each of which is known by its number.

    Nothing is compared but hashes of 64 bits. No two pieces share one; a text that somebody
    computed for it can be taken for a piece, which changes the vector of that text alone.
    """

    def __init__(self, blob: bytes, bounds: npt.NDArray[np.uint32]) -> None:
        """Read pieces that stand one behind another in UTF-8; `bounds`: where each starts."""
        starts_character = (np.frombuffer(blob, np.uint8) & 0xC0) != 0x80
        place = np.concatenate([[0], np.cumsum(starts_character)])[bounds]
        sums = _sum_up(blob.decode("utf-8"))
        hashes = (sums[place[1:]] - sums[place[:-1]]) * _powers(INVERSE, len(sums))[place[:-1]]
        order = np.argsort(hashes, kind="stable")
        # A last one, that no search goes beyond; the piece that it stands for has no place.
        self._hashes = np.append(hashes[order], np.uint64(2**64 - 1))
        self._numbers = np.append(order, 0).astype(np.uint32)
        self._longest = int(np.diff(place).max())

    def find(self, word: str) -> list[tuple[int, int, int]]:
        """Return where pieces stand in a word: start, end, number, by their starts."""
        starts, ends = _list_spans(len(word), self._longest)
        sums = _sum_up(word)
        hashes = (sums[ends] - sums[starts]) * _powers(INVERSE, len(word))[starts]
        at = self._hashes.searchsorted(hashes)
        hits = (self._hashes[at] == hashes).nonzero()[0]
        rows = (starts[hits], ends[hits], self._numbers[at[hits]])
        return list(zip(*(row.tolist() for row in rows), strict=True))


@lru_cache(maxsize=64)
def _list_spans(length: int, longest: int) -> tuple[Places, Places]:
    """Return starts and ends of all parts of a word, by their starts."""
    starts, sizes = np.indices((length, min(length, longest)))
    inside = starts + sizes < length
    return starts[inside], (starts + sizes + 1)[inside]


def _sum_up(text: str) -> Hashes:
    """Return the sums of each character times its power of BASE, from none to all of them.

    The difference of two, divided by the power of the first, is the hash of what is between.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    # One more than the character: else a piece with a NUL behind it would have its hash.
    terms = (codes.astype(np.uint64) + np.uint64(1)) * _powers(BASE, len(codes))
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])


def _powers(base: int, count: int) -> Hashes:
    """Return the first powers of a number, modulo 2**64."""
    return _short_powers(base)[:count] if count <= KEPT_POWERS else _make_powers(base, count)


KEPT_POWERS = 1024


@cache
def _short_powers(base: int) -> Hashes:
    return _make_powers(base, KEPT_POWERS)


def _make_powers(base: int, count: int) -> Hashes:
    factors = np.full(count, base, np.uint64)
    factors[:1] = 1
    return np.multiply.accumulate(factors)
