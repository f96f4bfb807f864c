"""Finds the pieces of a vocabulary in a word, by hashes in arrays that processes share.

A dict of 250,000 strings takes 50 MB, and each lookup writes a reference counter, so that every
forked process soon has its own copy.
"""

from itertools import pairwise

import numpy as np
import numpy.typing as npt


class Pieces:
    """The pieces of a vocabulary, each known by its number.

    Only Python's 64-bit hashes are compared, which nobody outside can foresee: a forked process has
    those of its parent. Two pieces share one by chance in a process of 500 million.
    """

    def __init__(self, blob: bytes, bounds: npt.NDArray[np.uint32]) -> None:
        """Read pieces stored one after another in UTF-8; `bounds`: where each starts."""
        pieces = [blob[start:end] for start, end in pairwise(bounds.tolist())]
        hashes = np.fromiter(map(hash, pieces), np.int64)
        order = np.argsort(hashes, kind="stable")
        # A sentinel at the end, which no search passes.
        self._hashes = np.append(hashes[order], np.iinfo(np.int64).max)
        self._numbers = np.append(order, 0).astype(np.uint32)
        self._longest = max(len(piece.decode()) for piece in pieces)

    def find(self, word: str) -> list[tuple[int, int, int]]:
        """Return the pieces found in a word as (start, end, number), by start."""
        length = len(word)
        spans = [
            (start, end)
            for start in range(length)
            for end in range(start + 1, min(start + self._longest, length) + 1)
        ]
        # Of bytes: two texts of different characters can have the same hash.
        parts = (word[start:end].encode("utf-8", "surrogatepass") for start, end in spans)
        hashes = np.fromiter(map(hash, parts), np.int64)
        at = self._hashes.searchsorted(hashes)
        hits = (self._hashes[at] == hashes).nonzero()[0]
        numbers = self._numbers[at[hits]]
        return [
            (*spans[hit], number)
            for hit, number in zip(hits.tolist(), numbers.tolist(), strict=True)
        ]
