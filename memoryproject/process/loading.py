"""Memory settings of a process: garbage collection during loading, and large texts."""

import ctypes
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

M_MMAP_THRESHOLD = -3
"""A parameter of glibc's `mallopt`, by its number in malloc.h."""
LARGE_BLOCK_BYTES = 64 * 1024
"""Size of the largest content. glibc's own value starts at 128 KiB and grows."""
shared_models: list[Callable[[], object]] = []
"""Functions that each load a model in use; apps add theirs when they are ready."""


@contextmanager
def without_collecting() -> Iterator[None]:
    """Disable garbage collection in the block, and exempt its objects afterwards.

    Modules and classes stay as long as the process. Scanning them would stop it for a tenth of a
    second now and then, and would copy their memory in forked processes. Memory freed during
    loading is returned to the system.
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
    """Load the models that forked processes share; they never write to them."""
    return_large_blocks()
    with without_collecting():
        for load in shared_models:
            load()


def return_large_blocks() -> None:
    """Make glibc return the memory of large texts as soon as they are freed.

    By default it takes them from heaps, one per thread, which cannot shrink while small objects
    live in them. Other C libraries are not changed.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES)
