"""How a process treats memory: garbage while it loads, and large texts afterwards."""

import ctypes
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

M_MMAP_THRESHOLD = -3
"""A parameter of glibc's `mallopt`, by its number in malloc.h."""
LARGE_BLOCK_BYTES = 64 * 1024
"""The size of the largest content. By itself glibc begins with 128 KiB, and goes up."""
shared_models: list[Callable[[], object]] = []
"""Each loads a model that is in use; apps add to it when they are ready."""


@contextmanager
def without_collecting() -> Iterator[None]:
    """Collect no garbage in the block, and never look through what is there at its end.

    That is modules and classes, which stay as long as the process does. To look through them
    all would stop it for a tenth of a second, now and then, and in processes that were forked
    copy their memory. What loading has freed is given back to the system.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).malloc_trim(0)


def load_shared_models() -> None:
    """Load what processes that are forked from this one are to share; they never write to it."""
    return_large_blocks()
    with without_collecting():
        for load in shared_models:
            load()


def return_large_blocks() -> None:
    """Let glibc give memory of large texts back as soon as they are gone.

    By itself it soon takes them from heaps, one for each of many threads, which small
    objects that live on keep from shrinking. Another C library is left as it is.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES)
