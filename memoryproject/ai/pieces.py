"""Finds the pieces of a vocabulary in a word, by hashes in arrays that processes share.

A dict of 250,000 strings takes 50 MB, and each lookup writes a reference counter, so that every
forked process soon has its own copy.
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
    """The pieces of a vocabulary, each known by its number.

    Only 64-bit hashes are compared. No two pieces share one; a text made to collide would be taken
    for a piece, which changes only that text's vector.
    """

    def __init__(self, blob: bytes, bounds: npt.NDArray[np.uint32]) -> None:
        """Read pieces stored one after another in UTF-8; `bounds`: where each starts."""
        starts_character = (np.frombuffer(blob, np.uint8) & 0xC0) != 0x80
        place = np.concatenate([[0], np.cumsum(starts_character)])[bounds]
        sums = _sum_up(blob.decode("utf-8"))
        hashes = (sums[place[1:]] - sums[place[:-1]]) * _powers(INVERSE, len(sums))[place[:-1]]
        order = np.argsort(hashes, kind="stable")
        # A sentinel at the end, which no search passes; it matches no piece.
        self._hashes = np.append(hashes[order], np.uint64(2**64 - 1))
        self._numbers = np.append(order, 0).astype(np.uint32)
        self._longest = int(np.diff(place).max())

    def find(self, word: str) -> list[tuple[int, int, int]]:
        """Return the pieces found in a word as (start, end, number), by start."""
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
    """Return the running sums of each character times its power of BASE.

    The difference of two, divided by the power of the first, is the hash of what is between.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    # Plus one: otherwise a piece followed by NUL would have the same hash.
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
