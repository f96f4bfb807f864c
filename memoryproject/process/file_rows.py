"""A table of numbers whose rows are read from a file when needed."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt


class FileRows:
    """A table in an open file; `table[places]` reads rows. Processes may share it.

    It is not memory-mapped, because each row read maps the pages around it: after some hundred
    texts most of the table would count as each process's own memory.
    """

    def __init__(self, file: int, *, dtype: npt.DTypeLike, width: int, start: int = 0) -> None:
        """Take a table with rows of `width` numbers, `start` bytes into the file.

        `file` is a descriptor that stays open as long as the process lives.
        """
        self._file, self._start = file, start
        self._dtype, self._width = np.dtype(dtype), width

    def __getitem__(self, places: Iterable[int]) -> npt.NDArray[Any]:
        """Return the rows at these places, in this order: shape (places, width)."""
        size = self._dtype.itemsize * self._width
        rows = (os.pread(self._file, size, self._start + size * int(place)) for place in places)
        return np.frombuffer(b"".join(rows), self._dtype).reshape(-1, self._width)
