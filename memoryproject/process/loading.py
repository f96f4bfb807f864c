"""Loading a process without garbage collection, which takes a fifth of it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Collect no garbage in the block, and never look through what is there at its end.

    That is modules and classes, which stay as long as the process does. To look through them
    all would stop it for a tenth of a second, now and then, and in processes that were forked
    copy their memory.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
