"""Rows of a table are read from its file, in the order asked for, and by a forked process, too."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from memoryproject.process.file_rows import FileRows

TABLE = np.arange(12, dtype=np.float16).reshape(4, 3)


def test_rows_come_in_the_order_of_their_places(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(b"head" + TABLE.tobytes())
    rows = FileRows(os.open(path, os.O_RDONLY), dtype=np.float16, width=3, start=4)
    assert np.array_equal(rows[[3, 0, 3]], TABLE[[3, 0, 3]])
    assert rows[np.array([], dtype=np.intp)].shape == (0, 3)
    if not (pid := os.fork()):
        os._exit(0 if np.array_equal(rows[[2]], TABLE[[2]]) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
