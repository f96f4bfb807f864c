"""A table of numbers whose rows are read from its file as they are needed."""

import os
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
import numpy.typing as npt


class FileRows:
    """A table in an open file; `table[places]` reads those rows. Processes may share it.

    Were it mapped, a look at one row would map the pages around it, too: after some hundred
    texts most of the table would count as every process's own memory.
    """

    def __init__(self, file: IO[bytes], *, dtype: npt.DTypeLike, width: int, start: int = 0):
        """Take a table of rows of `width` numbers that begins `start` bytes into the file."""
        self._file, self._start = file, start
        self._dtype, self._width = np.dtype(dtype), width

    def __getitem__(self, places: Iterable[int]) -> npt.NDArray[Any]:
        """Return the rows at these places, in this order: shape (places, width)."""
        size, number = self._dtype.itemsize * self._width, self._file.fileno()
        rows = (os.pread(number, size, self._start + size * int(place)) for place in places)
        return np.frombuffer(b"".join(rows), self._dtype).reshape(-1, self._width)
